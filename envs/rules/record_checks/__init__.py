"""The optional kernel ``check_record`` of each game: whether a record from outside is a position of the game.

Rules kernels trust their records: cells, labels and counts in them are used as indices without a bounds check. So a record
that comes from a file or from a caller is compared with what the rules could have made of it. Every field that follows from
others is computed again; what remains free is checked against its range.

``check_record(board, state)`` returns 0 for a position, else the number of the field that is wrong (see
:func:`stoneworks.envs.rules.records.field_numbers`). It must not read outside of its arrays, whatever the record holds.
"""
