import { expect } from 'chai'
import {
  InnerMembers,
  type InnerPackage,
  installedVersion,
  remedyFor,
  requireInner,
  untested,
  whatIsUntested
} from '../../shared/inner-members.js'
import { StartError } from '../../shared/start-error.js'

interface Inner {
  send(text: string): void
  readonly count: number
  readonly parts: object
  readonly Class: new () => object
}

const INNER = new InnerMembers<Inner>({ send: 'function', count: 'number', parts: 'object', Class: 'function' })
const CHAI: InnerPackage = { name: 'chai', tested: '0.0.1' }

class Parent {
  readonly Class = Map
  send(): void {}
}

describe('InnerMembers', () => {
  it('misses nothing in an object that has all members, those of its class included', () => {
    expect(INNER.missingIn(Object.assign(new Parent(), { count: 0, parts: [] }))).to.deep.equal([])
  })

  for (const [what, member, value] of [
    ['that is not there', 'count', undefined],
    ['of another kind', 'count', '1'],
    ['that is null', 'parts', null],
    ['that is a number in place of a function', 'send', 1]
  ] as const) {
    it(`names a member ${what}`, () => {
      const object = { ...new Parent(), send: () => undefined, count: 1, parts: {}, [member]: value }
      expect(INNER.missingIn(object)).to.deep.equal([member])
    })
  }

  for (const nothing of [undefined, null, 1, 'text']) {
    it(`misses every member in ${String(nothing)}, which is no object`, () => {
      expect(INNER.missingIn(nothing)).to.deep.equal(['send', 'count', 'parts', 'Class'])
    })
  }

  it('hands over the object itself', () => {
    const object = Object.assign(new Parent(), { count: 1, parts: {} })
    expect(INNER.of(object)).to.equal(object)
  })
})

describe('a package of which inner members are used', () => {
  const installed = installedVersion(CHAI)

  it('is as it was tested only in the tested version and with all members', () => {
    expect(untested({ name: 'chai', tested: installed }, [])).to.equal(undefined)
    expect(untested({ name: 'chai', tested: installed }, ['member'])).to.deep.equal({
      package: 'chai',
      installed,
      tested: installed,
      missing: ['member']
    })
    expect(untested(CHAI, [])).to.deep.equal({ package: 'chai', installed, tested: '0.0.1', missing: [] })
  })

  it('is described by its name, its version, the tested version, and what to do', () => {
    const found = { package: 'chai', installed: '7.0.0', tested: '6.3.0', missing: ['a', 'b'] }
    expect(whatIsUntested(found)).to.equal(
      'chai 7.0.0 is installed, which lacks a, b; 6.3.0 is the version that was tested'
    )
    expect(whatIsUntested({ ...found, missing: [] })).to.equal(
      'chai 7.0.0 is installed; 6.3.0 is the version that was tested'
    )
    expect(remedyFor(found)).to.equal('Install chai 6.3.0: `npm ls chai` shows what asks for another version.')
  })

  it('keeps the process from starting where it lacks a member that nothing public replaces', () => {
    expect(() => requireInner(CHAI, [])).not.to.throw()
    expect(() => requireInner(CHAI, ['member'])).to.throw(
      StartError,
      `chai ${installed} is installed, which lacks member; 0.0.1 is the version that was tested. Install chai 0.0.1: ` +
        '`npm ls chai` shows what asks for another version.'
    )
  })
})
