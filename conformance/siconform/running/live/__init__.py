"""What people see while a run goes on: areas, waits in flight, time left, failures as they come."""
