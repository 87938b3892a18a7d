import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'

/** How many requirements of the levels 1 and 2 each section of ASVS 5.0.0 has. Those of level 3 come after them. */
const SECTIONS: Readonly<Record<string, number>> = {
  '1.1': 2,
  '1.2': 9,
  '1.3': 11,
  '1.4': 3,
  '1.5': 2,
  '2.1': 3,
  '2.2': 3,
  '2.3': 4,
  '2.4': 1,
  '3.2': 2,
  '3.3': 4,
  '3.4': 6,
  '3.5': 5,
  '3.7': 2,
  '4.1': 3,
  '4.2': 1,
  '4.3': 2,
  '4.4': 4,
  '5.1': 1,
  '5.2': 3,
  '5.3': 2,
  '5.4': 3,
  '6.1': 3,
  '6.2': 12,
  '6.3': 4,
  '6.4': 4,
  '6.5': 5,
  '6.6': 3,
  '6.8': 4,
  '7.1': 3,
  '7.2': 4,
  '7.3': 2,
  '7.4': 5,
  '7.5': 2,
  '7.6': 2,
  '8.1': 2,
  '8.2': 3,
  '8.3': 1,
  '8.4': 1,
  '9.1': 3,
  '9.2': 4,
  '10.1': 2,
  '10.2': 2,
  '10.3': 4,
  '10.4': 11,
  '10.5': 5,
  '10.6': 2,
  '10.7': 3,
  '11.1': 2,
  '11.2': 3,
  '11.3': 3,
  '11.4': 4,
  '11.5': 1,
  '11.6': 1,
  '12.1': 3,
  '12.2': 2,
  '12.3': 4,
  '13.1': 1,
  '13.2': 5,
  '13.3': 2,
  '13.4': 5,
  '14.1': 2,
  '14.2': 4,
  '14.3': 3,
  '15.1': 3,
  '15.2': 3,
  '15.3': 7,
  '16.1': 1,
  '16.2': 5,
  '16.3': 4,
  '16.4': 3,
  '16.5': 3,
  '17.1': 1,
  '17.2': 4,
  '17.3': 2
}

const VERDICTS = ['holds', 'in part', 'does not hold', 'deployment', 'does not apply'] as const

const textOf = (page: string): string => readFileSync(join(packageRoot, 'docs', page), 'utf8')
const page = textOf('asvs.md')

/** The verdict of each requirement, in the order of the page. */
const judged = Array.from(page.matchAll(/^\| (\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*) \| ([^|]+) \|/gm)).flatMap(
  ([, ids = '', verdict = '']) => ids.split(', ').map((id) => ({ id, verdict }))
)

describe('docs/asvs.md', () => {
  it('judges each requirement of the levels 1 and 2 once, by one of its words', () => {
    const required = Object.entries(SECTIONS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, at) => `${section}.${at + 1}`)
    )
    expect(judged.map(({ id }) => id).toSorted()).to.deep.equal(required.toSorted())
    expect(VERDICTS).to.include.members(judged.map(({ verdict }) => verdict))
  })

  it('names in its list what does not hold, or holds in part', () => {
    const [, list = ''] = /^## What does not hold$(.*?)^## /ms.exec(page) ?? []
    const missing = judged
      .filter(({ verdict }) => verdict === 'in part' || verdict === 'does not hold')
      .filter(({ id }) => !new RegExp(`[( ]${id.replaceAll('.', '\\.')}[),]`).test(list))
    expect(missing).to.deep.equal([])
  })

  it('is counted as security.md says', () => {
    const count = (wanted: (typeof VERDICTS)[number]): number =>
      judged.filter(({ verdict }) => verdict === wanted).length
    expect(textOf('security.md')).to.include(
      `${count('holds')} hold, ${count('in part')} hold in part, ${count('does not hold')} do not hold, ` +
        `${count('deployment')} are for whoever deploys the service, and ${count('does not apply')} are about`
    )
  })
})
