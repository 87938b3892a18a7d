import { expect } from 'chai'
import { lineCount, PRODUCT, sourceFiles } from './source-files.js'

describe('file sizes', () => {
  it('no source file is over 250 lines', () => {
    const long = sourceFiles(...PRODUCT, 'bench', 'examples').filter((file) => lineCount(file) > 250)
    expect(long.map(({ path }) => path)).to.deep.equal([])
  })

  it('no test file is over 400 lines', () => {
    expect(
      sourceFiles('test')
        .filter((file) => lineCount(file) > 400)
        .map(({ path }) => path)
    ).to.deep.equal([])
  })

  it('half of the source files have 80 lines or fewer', () => {
    const sizes = sourceFiles(...PRODUCT)
      .map(lineCount)
      .toSorted((a, b) => a - b)
    expect(sizes[Math.floor(sizes.length / 2)]).to.be.at.most(80)
  })
})
