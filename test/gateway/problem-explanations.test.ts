import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROBLEM_EXPLANATIONS } from '../../gateway/http/problem-explanations.js'
import { ERROR_CODES } from '../../shared/errors.js'
import { packageRoot } from '../harness/package-root.js'

const document = readFileSync(join(packageRoot, 'docs/errors.md'), 'utf8')

describe('the pages of problems', () => {
  it('say what docs/errors.md says', () => {
    const meanings = new Map(
      Array.from(document.matchAll(/^\| \[`([^`]+)`\].*\| ([^|]+) \|$/gm), ([, code = '', meaning = '']) => [
        code,
        meaning
      ])
    )
    const remedies = new Map(
      Array.from(document.matchAll(/^## (.+)\n(\S.*)$/gm), ([, code = '', remedy = '']) => [code, remedy])
    )
    expect(PROBLEM_EXPLANATIONS).to.deep.equal(
      Object.fromEntries(ERROR_CODES.map((code) => [code, { meaning: meanings.get(code), remedy: remedies.get(code) }]))
    )
  })
})
