import { expect } from 'chai'
import { basename } from 'node:path'
import { EVERYTHING, sourceFiles } from './source-files.js'

const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.config)?\.tsx?$/
// Names that say where things were put, not what they are.
const CATCH_ALL = /(^|-)(utils?|helpers?|commons?|misc|managers?)(\.test)?\.ts$|^index(\.test|\.config)?\.tsx?$/

describe('file names', () => {
  const paths = sourceFiles(...EVERYTHING).map(({ path }) => path)

  it('are in kebab-case', () => {
    expect(paths.filter((path) => !KEBAB_CASE.test(basename(path)))).to.deep.equal([])
  })

  it('say what the file holds', () => {
    const vague = paths.filter((path) => CATCH_ALL.test(basename(path)))
    expect(vague).to.deep.equal(['examples/store/entities/index.ts'])
  })
})
