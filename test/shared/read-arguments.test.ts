import { join } from 'node:path'
import { expect } from 'chai'
import { ArgumentError, readArguments } from '../../shared/settings.js'
import { type Ran, runCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'

describe('arguments of the processes', () => {
  it('ask for one task', () => {
    expect(readArguments([])).to.equal('serve')
    expect(readArguments(['--print-config'])).to.equal('print-config')
    expect(readArguments(['--print-config', '--help'])).to.equal('help')
    for (const wrong of ['--port=1', 'toString', '']) {
      expect(() => readArguments([wrong]), JSON.stringify(wrong)).to.throw(ArgumentError, JSON.stringify(wrong))
    }
  })

  for (const main of ['gateway', 'data-service']) {
    // A wrong setting shows that settings are not looked at for help.
    const run = (argument: string): Promise<Ran> =>
      runCommand(['start', main, argument, '--app', join(outputRoot, 'examples/store')], { env: { LOG_LEVEL: 'x' } })

    it(`${main} --help says where settings are explained`, async () => {
      const { code, stdout } = await run('--help')
      expect(code).to.equal(0)
      expect(stdout).to.contain('docs/settings.md').and.contain('--print-config')
    })

    it(`${main} rejects what it does not know`, async () => {
      const { code, stderr } = await run('--prot')
      expect(code).to.equal(1)
      expect(stderr).to.match(/^Cannot start: there is no argument "--prot".*docs\/settings\.md\.\n$/)
    })
  }
})
