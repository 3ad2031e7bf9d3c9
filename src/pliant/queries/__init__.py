"""What users ask: contacts, steps, intersections, what is near, what is inside."""
