describe('tests whose process ends', () => {
  it('passes', () => undefined)

  it('is in the process that ends', () => {
    process.stderr.write('the last words\n')
    process.kill(process.pid, 'SIGKILL')
  })

  it('does not run', () => undefined)
})
