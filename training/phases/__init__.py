"""What a job does: prepare in the driver, work in Ray."""
