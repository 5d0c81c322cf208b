"""Stoneworks environments: PettingZoo AEC and Gymnasium environments over the shared rules core."""
