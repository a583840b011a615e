"""What ``siconform check-trace`` shows of its result: screen, results, JUnit file and page."""
