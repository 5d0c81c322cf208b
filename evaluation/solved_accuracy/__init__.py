"""The accuracy of players on solved positions, and exact best responses to them."""
