"""Whatever writes is killed at each of its writes, and goes on with nothing lost or done twice."""
