#!/bin/bash
# Training on 5 nodes: sbatch slurm.sh. A job that is requeued resumes from its checkpoint.
#SBATCH --job-name=stoneworks
#SBATCH --nodes=5
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --signal=TERM@120
set -e
export RAY_USAGE_STATS_ENABLED=0 OMP_NUM_THREADS=1
# The nodes share this token through the home folder.
[ -f "$HOME/.ray/auth_token" ] || ray get-auth-token --generate > /dev/null
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
mkdir -p runs/vadus  # --resume of an empty folder starts a run
# Starts Ray on all nodes, the command on the first one, and stops Ray at the end.
srun ray symmetric-run --address "$head:6379" --min-nodes "$SLURM_NNODES" -- \
    stoneworks train vadus-5 --folder runs/vadus --cluster auto --resume
