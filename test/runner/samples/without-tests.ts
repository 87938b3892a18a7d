// A test file that declares no test counts as a failure.
describe('a suite without tests', () => undefined)
