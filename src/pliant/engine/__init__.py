"""The engine of all mesh queries: a scene, a walk over its pairs, and what is kept of them."""
