import { expect } from 'chai'
import { ifMatch } from '../../../gateway/http/preconditions.js'

const tags = (...versions: string[]): object => ({
  kind: 'tags',
  versions: versions.map((version) => Buffer.from(version, 'base64'))
})

describe('If-Match', () => {
  const TAGS: readonly (readonly [header: string, found: object])[] = [
    ['W/"AQIDBAUGBwg="', tags('AQIDBAUGBwg=')],
    ['"AQIDBAUGBwg="', tags('AQIDBAUGBwg=')],
    ['"+/8="', tags('+/8=')],
    ['"AA=="', tags('AA==')],
    [' \t"AA=="\t ', tags('AA==')],
    ['"AA==","AQ=="', tags('AA==', 'AQ==')],
    ['W/"AA==" ,\t"AQ=="', tags('AA==', 'AQ==')],
    [',, "AA==",,', tags('AA==')],
    ['"AA==", "AA=="', tags('AA==', 'AA==')],
    [`"${'A'.repeat(4000)}"`, tags('A'.repeat(4000))]
  ]
  for (const [header, found] of TAGS) {
    it(`decodes ${header.slice(0, 40)}`, () => expect(ifMatch(header)).to.deep.equal(found))
  }

  for (const header of [undefined, '', ' ', '\t', ',', ' , ,']) {
    it(`takes ${JSON.stringify(header)} for no If-Match`, () =>
      expect(ifMatch(header)).to.deep.equal({ kind: 'absent' }))
  }

  for (const header of ['*', ' * ']) {
    it(`takes ${JSON.stringify(header)} for any version`, () =>
      expect(ifMatch(header)).to.deep.equal({ kind: 'wildcard' }))
  }

  const MALFORMED = [
    'AQIDBAUGBwg=',
    'W/AQIDBAUGBwg=',
    'w/"AQIDBAUGBwg="',
    'W/ "AQIDBAUGBwg="',
    'W"AQIDBAUGBwg="',
    '""',
    'W/""',
    '"',
    '"AQIDBAUGBwg="x',
    'x"AQIDBAUGBwg="',
    '"AQIDBAUGBwg',
    "'AQIDBAUGBwg='",
    '"AQIDBAUGBwg"',
    '"AQIDBAUGBwg=="',
    '"AQIDBAUGBwh="',
    '"AB=="',
    '"-_8="',
    '"A"',
    '"===="',
    '"AA==AA=="',
    '"AQ ID"',
    '" AA=="',
    '"AA\\=="',
    '"é"',
    '\u00a0"AA=="',
    '"AA==" "AQ=="',
    '"AA==";"AQ=="',
    '"AA==", *',
    '*, "AA=="',
    '*, *',
    '*,',
    '**',
    '"*"',
    '"AA==", nonsense',
    '"AA==", w/"AQ=="',
    '"AA==", ""',
    '"AA==,AQ=="',
    '"null"x, "AA=="'
  ]
  for (const header of MALFORMED) {
    it(`finds ${header} malformed`, () => expect(ifMatch(header)).to.deep.equal({ kind: 'malformed' }))
  }
})
