"""What acts on contacts: steps that end free of them."""
