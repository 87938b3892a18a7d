import { join } from 'node:path'
import { expect } from 'chai'
import { command } from '../../cli/dev.js'
import { packageRoot } from '../harness/package-root.js'

describe('the commands that dev shows', () => {
  const shown = (folder: string, environment = {}) => command('account', { folder, environment })

  it('are for the application that it runs', () => {
    const here = process.cwd()
    expect(shown(here)).to.equal('npx uniform-rest account')
    expect(shown(join(here, 'other'))).to.equal('npx uniform-rest account --app other')
    expect(shown(join(here, "it's"))).to.equal(String.raw`npx uniform-rest account --app 'it'\''s'`)
    expect(shown(here, { DATA_DIR: '/tmp/my data' })).to.equal("DATA_DIR='/tmp/my data' npx uniform-rest account")
  })

  it('are scripts of package.json for the reference store', () => {
    const here = process.cwd()
    process.chdir(packageRoot)
    try {
      const folder = join(packageRoot, 'dist/examples/store')
      expect(shown(folder)).to.equal('npm run --silent account --')
      expect(command('token', { folder, environment: {} })).to.equal('npm run --silent token --')
    } finally {
      process.chdir(here)
    }
  })
})
