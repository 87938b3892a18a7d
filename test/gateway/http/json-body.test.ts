import { expect } from 'chai'
import { checkJsonBody, checkMediaType } from '../../../gateway/http/json-body.js'
import { DomainError } from '../../../shared/errors.js'

describe('the media type of a body', () => {
  const length = { 'content-length': '2' }
  const SUPPORTED: readonly Parameters<typeof checkMediaType>[0][] = [
    { 'content-type': 'application/json', ...length },
    { 'content-type': 'APPLICATION/Json', ...length },
    { 'content-type': 'application/json; charset=utf-8', ...length },
    { 'content-type': 'application/json ;charset="UTF-8";x=y', ...length },
    { 'content-type': 'application/json;', ...length },
    { 'content-type': 'application/json', 'content-encoding': 'Identity', ...length },
    {},
    { 'content-length': '0' },
    { 'content-type': 'application/json' }
  ]
  for (const headers of SUPPORTED) {
    it(`takes ${JSON.stringify(headers)}`, () => expect(() => checkMediaType(headers)).to.not.throw())
  }

  const UNSUPPORTED: readonly Parameters<typeof checkMediaType>[0][] = [
    length,
    { 'transfer-encoding': 'chunked' },
    { 'content-type': '', ...length },
    { 'content-type': 'application/merge-patch+json', ...length },
    { 'content-type': 'application/json+x', ...length },
    { 'content-type': 'application/jsonx', ...length },
    { 'content-type': 'application/json, text/plain', ...length },
    { 'content-type': 'application/x-www-form-urlencoded', ...length },
    { 'content-type': 'text/json', ...length },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=iso-8859-1', ...length },
    { 'content-type': 'application/json;charset=', ...length },
    { 'content-type': 'application/json', 'content-encoding': 'gzip', ...length }
  ]
  for (const headers of UNSUPPORTED) {
    it(`rejects ${JSON.stringify(headers)}`, () => {
      expect(() => checkMediaType(headers))
        .to.throw()
        .with.property('code', 'media-type.unsupported')
    })
  }
})

describe('a body', () => {
  for (const text of ['{}', ' {"a":[1e400,"é\\ud800"]}\n', '[]', '1', 'null', '"x"', '{"__proto__":{"a":1}}']) {
    it(`${text} is JSON`, () => {
      expect(() => checkJsonBody(Buffer.from(text))).to.not.throw()
      expect({}).to.not.have.property('a')
    })
  }

  it('may be 100 levels deep, brackets in strings not counted', () => {
    const text = `${'{"a":['.repeat(50)}"\\"${'[{'.repeat(200)}"${']}'.repeat(50)}`
    expect(() => checkJsonBody(Buffer.from(text))).to.not.throw()
  })

  const COUNTED: readonly (readonly [what: string, value: (count: number) => string])[] = [
    [
      'an array',
      (count) =>
        `[${Array<string>(count - 1)
          .fill('1')
          .join()}]`
    ],
    ['an object', (count) => `{${Array.from({ length: count - 1 }, (_, at) => `"${at}":","`).join(', ')} }`],
    [
      'empty arrays and objects',
      (count) =>
        `[ ${Array<string>(count - 1)
          .fill('[ ] ')
          .join()}]`.replace('[ ]', '{}')
    ],
    [
      'rows',
      (count) =>
        `[${Array<string>((count - 1) / 3)
          .fill('{"a":"[,,{","b":[]}')
          .join('\n,')}]`
    ]
  ]
  for (const [what, valueOf] of COUNTED) {
    it(`of ${what} may hold 50,000 values`, () => {
      // 3 divides both without the value that holds the rows.
      const counts = what === 'rows' ? [49_999, 50_002] : [50_000, 50_001]
      const [most = '', beyond = ''] = counts.map(valueOf)
      expect(() => checkJsonBody(Buffer.from(most))).to.not.throw()
      expect(() => checkJsonBody(Buffer.from(beyond)))
        .to.throw(DomainError)
        .with.property('code', 'body.too-large')
    })
  }

  it('is rejected for its values without being parsed', () => {
    // JSON.parse would find that it is malformed.
    const body = Buffer.from(`[${Array<string>(60_000).fill('x').join()}]`)
    expect(() => checkJsonBody(body))
      .to.throw(DomainError)
      .with.property('code', 'body.too-large')
  })

  const DEEP = ['['.repeat(101) + ']'.repeat(101), `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`]
  for (const text of DEEP) {
    it(`${text.slice(0, 5)} of 101 levels is rejected`, () => {
      expect(() => checkJsonBody(Buffer.from(text)))
        .to.throw('nested more than 100 levels deep')
        .with.property('code', 'body.invalid')
    })
  }

  it('is rejected for its depth without being parsed', () => {
    const parse = JSON.parse
    try {
      JSON.parse = () => expect.fail('parsed')
      for (const [text, code] of [
        ['['.repeat(500_000) + ']'.repeat(500_000), 'body.invalid'],
        ['['.repeat(1_000_000), 'body.malformed'],
        ['{"a":'.repeat(200_000), 'body.malformed']
      ] as const) {
        expect(() => checkJsonBody(Buffer.from(text)), `${text.slice(0, 10)}, ${code}`)
          .to.throw()
          .with.property('code', code)
      }
    } finally {
      JSON.parse = parse
    }
  })

  const MALFORMED: readonly (readonly [why: string, body: Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['a space', Buffer.from(' ')],
    ['an open brace', Buffer.from('{')],
    ['single quotes', Buffer.from("{'a':1}")],
    ['a comma too many', Buffer.from('{"a":1,}')],
    ['a comment', Buffer.from('{}//')],
    ['a bracket that ends nothing', Buffer.from('][')],
    ['another bracket at the end', Buffer.from('{]')],
    ['a string that does not end', Buffer.from('"\\"')],
    ['NaN', Buffer.from('NaN')],
    ['two values', Buffer.from('{}{}')],
    ['a control character', Buffer.from('"\n"')],
    ['a no-break space', Buffer.from('{\u00a0}')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['Latin-1', Buffer.from('"é"', 'latin1')],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('{}', 'utf16le')]
  ]
  for (const [why, body] of MALFORMED) {
    it(`of ${why} is malformed`, () => {
      expect(() => checkJsonBody(body))
        .to.throw()
        .with.property('code', 'body.malformed')
    })
  }
})
