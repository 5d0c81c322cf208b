"""The optional kernel ``check_record`` of each game, which validates external records (``GameEntry.record_check``).

Kernels of the rules trust their records: cells, labels and counts are used as indices without bounds checks. A record
from a file or a caller is therefore validated first. Fields that follow from others are recomputed and compared;
the others are checked against their ranges.

``check_record(board, state)`` returns 0 for a valid position, else the number of the invalid field (see
:func:`stoneworks.envs.rules.header.field_numbers`). It must never read outside of its arrays.
"""
