import { expect } from 'chai'
import { attachmentName, exportOptions } from '../../../gateway/entity-routes/exports.js'
import {
  checkApiVersion,
  ignoredParameters,
  preferredHandling,
  prefersRollback
} from '../../../gateway/http/negotiation.js'
import { entityTag } from '../../../gateway/http/preconditions.js'
import { forwardedOrigin } from '../../../gateway/http/public-address.js'
import { pickParameters } from '../../../gateway/http/query-string.js'
import { checkBodySize, continueTrace } from '../../../gateway/http/request-head.js'
import { requestIdOf } from '../../../shared/transport/wire.js'

describe('Prefer', () => {
  const STRICT = [
    'handling=strict',
    'HANDLING=STRICT',
    'handling = "strict"',
    'handling="str\\ict"',
    'respond-async, handling=strict',
    'wait=10,handling=strict;foo=bar',
    'x="a,b", handling=strict',
    ', ,handling=strict',
    'handling=strict, handling=lenient'
  ]
  for (const header of STRICT) it(`${header} is strict`, () => expect(preferredHandling(header)).to.equal('strict'))

  for (const header of ['handling=lenient', 'Handling = "Lenient"', 'handling=lenient, handling=strict']) {
    it(`${header} is lenient`, () => expect(preferredHandling(header)).to.equal('lenient'))
  }

  const NEITHER = [
    undefined,
    '',
    'handling',
    'strict',
    'handling=strictly',
    'handling=strictly, handling=strict',
    'x="handling=strict"',
    'x="a, handling=strict"',
    'foo; handling=strict',
    'nohandling=strict'
  ]
  for (const header of NEITHER) {
    it(`${header} is neither`, () => expect(preferredHandling(header)).to.equal(undefined))
  }
})

describe('Prefer: tx', () => {
  it('asks for a dry run with the value rollback alone, in the first preference of the name', () => {
    for (const header of [
      'tx=rollback',
      'TX = "Rollback"',
      'handling=strict,tx=rollback;x=1',
      'tx=rollback, tx=commit'
    ]) {
      expect(prefersRollback(header), header).to.equal(true)
    }
    for (const header of [
      undefined,
      '',
      'tx',
      'tx=',
      'tx=commit',
      'tx=rollbacks',
      'tx=commit,tx=rollback',
      'x="tx=rollback"',
      'x;tx=rollback',
      'tx=roll back'
    ]) {
      expect(prefersRollback(header), header).to.equal(false)
    }
  })
})

describe('X-Ignored-Parameters', () => {
  it('is absent where nothing was ignored', () => expect(ignoredParameters([])).to.equal(undefined))
  it('percent-encodes names', () => {
    expect(ignoredParameters(['a', 'filters[x].value', 'é,\r\n'])).to.equal('a,filters%5Bx%5D.value,%C3%A9%2C%0D%0A')
  })
  it('holds 20 names at most', () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`)
    expect(ignoredParameters(names)?.split(',')).to.deep.equal(names.slice(0, 20))
  })
  it('holds 2 KB at most, and no part of a name', () => {
    expect(ignoredParameters(['a'.repeat(2000), 'b'.repeat(100), 'c'])).to.equal(`${'a'.repeat(2000)},c`)
    expect(ignoredParameters(['€'.repeat(1000)])).to.equal(undefined)
  })
})

describe('traceparent', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const next = (header: string | undefined): string | undefined => continueTrace(header, () => 'b7ad6b7169203331')

  it('stays in the trace with a span of its own', () => {
    expect(next(`00-${trace}-00f067aa0ba902b7-01`)).to.equal(`00-${trace}-b7ad6b7169203331-01`)
    expect(next(`cc-${trace}-00f067aa0ba902b7-00-later`)).to.equal(`00-${trace}-b7ad6b7169203331-00`)
  })
  for (const header of [
    undefined,
    '',
    'nonsense',
    `ff-${trace}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${trace}-00f067aa0ba902b7-01-more`
  ]) {
    it(`ignores ${header}`, () => expect(next(header)).to.equal(undefined))
  }
})

describe('X-Request-Id', () => {
  const id = (header: string | string[] | undefined): string => requestIdOf(header, () => 'new')
  for (const header of ['a', 'A.b_c-9', 'x'.repeat(128)])
    it(`keeps ${header}`, () => expect(id(header)).to.equal(header))
  for (const header of [undefined, '', 'a b', 'a,b', 'é', 'x'.repeat(129), ['a', 'b']]) {
    it(`replaces ${String(header)}`, () => expect(id(header)).to.equal('new'))
  }
})

describe('api-version', () => {
  for (const header of [undefined, '1', '1.0']) {
    it(`takes ${header}`, () => expect(() => checkApiVersion(header)).to.not.throw())
  }
  for (const header of ['', '2', '1.1', '01', 'v1', '1, 1', ['1', '1']]) {
    it(`rejects ${String(header)}`, () => {
      expect(() => checkApiVersion(header))
        .to.throw()
        .with.property('code', 'version.unsupported')
    })
  }
})

describe('Content-Length', () => {
  for (const length of [undefined, '0', '1048576', 'x']) {
    it(`takes ${length}`, () => expect(() => checkBodySize(length)).to.not.throw())
  }
  it('rejects a byte more than 1 MiB', () => {
    expect(() => checkBodySize('1048577'))
      .to.throw()
      .with.property('code', 'body.too-large')
  })
})

describe('ETag', () => {
  it('is the row version as a weak tag', () => {
    expect(entityTag(Buffer.from([0xfb, 0xff, 0, 1, 2, 3, 4, 5]))).to.equal('W/"+/8AAQIDBAU="')
  })
  it('is absent for a row without a version', () => expect(entityTag(Buffer.alloc(0))).to.equal(undefined))
})

describe('Content-Disposition', () => {
  it('names resource and time', () => {
    expect(attachmentName('stock-items', new Date('2031-02-03T04:05:06.789Z'))).to.equal(
      'attachment; filename="stock-items-20310203T040506Z.csv"'
    )
  })
})

describe('bom and escapeFormulas', () => {
  it('are on unless switched off', () => {
    expect(exportOptions({})).to.deep.equal({ bom: true, escapeFormulas: true, violations: [] })
    expect(exportOptions({ bom: 'false' })).to.deep.equal({ bom: false, escapeFormulas: true, violations: [] })
  })
  it('that are both wrong are both named', () => {
    const { violations } = exportOptions({ bom: 'FALSE', escapeFormulas: '' })
    expect(violations.map(({ code, place }) => [code, place.name])).to.deep.equal([
      ['request.malformed', 'bom'],
      ['request.malformed', 'escapeFormulas']
    ])
  })
  it('are faulty when repeated', () => {
    expect(exportOptions({ bom: 'true,true' }).violations).to.have.lengthOf(1)
  })
})

describe('the known part of a query', () => {
  it('keeps its pieces as they were sent', () => {
    const query = 'Fields=id,%20name&sortColumn=a&filters[a].value=1&&x=1&include%46Ks=true&%zz=1'
    expect(pickParameters(query, ['fields', 'includeFKs'])).to.equal('Fields=id,%20name&include%46Ks=true')
  })
})

describe('X-Forwarded-*', () => {
  const origin = (proto?: string, host?: string): string => forwardedOrigin({ proto, host }, 'http://127.0.0.1:3000')
  it('gives scheme and host', () => expect(origin('https', 'Shop.example')).to.equal('https://shop.example'))
  it('gives a scheme without a host and a host without a scheme', () => {
    expect(origin('https')).to.equal('https://127.0.0.1:3000')
    expect(origin(undefined, 'shop.example:8443')).to.equal('http://shop.example:8443')
  })
  it('counts what the nearest proxy wrote', () => {
    expect(origin('http, https', 'evil.example, shop.example')).to.equal('https://shop.example')
  })
  it('is ignored where it holds neither a scheme nor a host', () => {
    expect(origin('javascript', 'a/b')).to.equal('http://127.0.0.1:3000')
    expect(origin('https', 'a"><b')).to.equal('https://127.0.0.1:3000')
    expect(origin('https', 'a'.repeat(254))).to.equal('https://127.0.0.1:3000')
  })
  it('is ignored where it holds a host that no URL can have', () => {
    for (const host of ['xn--a', '999.999.999.999', 'shop.example:99999', '[::1::2]']) {
      expect(origin('https', host), host).to.equal('https://127.0.0.1:3000')
    }
  })
})
