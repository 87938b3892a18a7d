// runner.test.ts starts it as a process, as tests start the product's.
function crash(): void {
  throw new Error('the service crashed')
}

crash()
