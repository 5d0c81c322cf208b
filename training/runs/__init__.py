"""What all training algorithms share: configurations, display, hardware, interruption."""
