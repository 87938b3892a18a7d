import { expect } from 'chai'
import { expectProblem } from '../api/expect-problem.js'
import { filter, ids, json } from '../api/http-call.js'
import { describeLibrary } from './describe-library.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
const ADMIN = { role: 'Admin', sub: 'x' }
const BODY = { 'content-type': 'application/json' }

const SWATCH = { name: 'Dawn', colour: '#FF8800', price: '1.00', mixedAt: '2026-01-01T00:00:00Z', branchId: 1 }

/** docs/entity-words.md, field types of your own. */
describeLibrary('a field type of the application', (store) => {
  const create = (more: object) =>
    store.as(ADMIN, '/swatches', { method: 'POST', headers: BODY, body: JSON.stringify({ ...SWATCH, ...more }) })

  let etag = ''

  before(async () => {
    const bodies = [
      {},
      { name: 'Dusk', colour: '#00ff00', currency: 'CHF', layers: 4 },
      { name: 'Noon', colour: '#FFFFFF', currency: null }
    ]
    for (const body of bodies) {
      const answer = await create(body)
      expect(answer.status, answer.text).to.equal(201)
      etag = answer.headers.etag ?? etag
    }
  })

  it('is stored and answered in one form, whatever form of it came, and its default is', async () => {
    const shown = json(await store.as(ADMIN, '/swatches?fields=colour,currency,layers'))
    expect(shown).to.deep.equal([
      { colour: '#ff8800', currency: null, layers: 2 },
      { colour: '#00ff00', currency: 'CHF', layers: 4 },
      { colour: '#ffffff', currency: null, layers: 2 }
    ])
    const stored = await store.sql.run('SELECT colour FROM swatches ORDER BY id')
    expect(stored.map(({ colour }) => colour)).to.deep.equal(['#ff8800', '#00ff00', '#ffffff'])
  })

  it('is checked in every body, with all other violations', async () => {
    const violations = [
      { pointer: '/colour', says: 'colour must be a colour such as #ff8800.' },
      { pointer: '/currency', says: 'currency must be one of EUR, CHF, NOK.' },
      { pointer: '/layers', says: 'layers must be an even number.' },
      { pointer: '/price', says: 'price must have at most 2 digits after the point.' }
    ].map((one) => ({ code: 'body.invalid', ...one }))
    const wrong = { colour: '#ff88zz', currency: 'eur', layers: 3, price: '1.005' }
    const problem = { status: 400, code: 'body.invalid', base: store.stack.url, violations }
    expectProblem(await create(wrong), problem)
    const headers = { ...BODY, 'if-match': etag }
    const put = { method: 'PUT', headers, body: JSON.stringify({ ...SWATCH, ...wrong }) }
    expectProblem(await store.as(LIBRARIAN, '/swatches/3', put), problem)
    const patch = { ...put, method: 'PATCH', headers: { ...headers, 'content-type': 'application/merge-patch+json' } }
    expectProblem(await store.as(LIBRARIAN, '/swatches/3', { ...patch, body: JSON.stringify(wrong) }), problem)
  })

  it('keeps the bounds and the type of its base', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ colour: '#ff8800 ' }, 'colour must have 7 characters.'],
      [{ colour: 7 }, 'colour must be a colour such as #ff8800.'],
      [{ colour: null }, 'colour must not be null.'],
      [{ layers: 102 }, 'layers must be at most 100.'],
      [{ layers: '2' }, 'layers must be an even number.']
    ]
    for (const [body, says] of cases) {
      const [name = ''] = Object.keys(body)
      expectProblem(await create(body), {
        status: 400,
        code: 'body.invalid',
        base: store.stack.url,
        violations: [{ code: 'body.invalid', pointer: `/${name}`, says }]
      })
    }
  })

  it('is what operands of filters are, in any form of it', async () => {
    const paged = (query: string) => store.as(ADMIN, `/swatches/paged?${query}`)
    expect(ids(await paged(filter('colour', 'equals', '#FF8800')))).to.deep.equal([1])
    expect(ids(await paged(filter('colour', 'in', '#00FF00,#ffffff')))).to.deep.equal([2, 3])
    expect(ids(await paged(filter('colour', 'ne', '#00FF00')))).to.deep.equal([1, 3])
    expect(ids(await paged(filter('layers', 'between', '2,2')))).to.deep.equal([1, 3])
    expect(ids(await paged(filter('currency', 'is empty', '')))).to.deep.equal([1, 3])
    const wrong = [
      filter('colour', 'equals', 'orange'),
      filter('colour', 'in', '#00FF00,#fff'),
      filter('currency', 'equals', 'USD'),
      filter('layers', 'gt', '3')
    ]
    expectProblem(await paged(wrong.join('&')), {
      status: 400,
      code: 'filter.value.invalid',
      base: store.stack.url,
      violations: [
        { parameter: 'filters[colour].value', says: '"orange" is not a colour such as #ff8800.' },
        { parameter: 'filters[colour].value', says: '"#fff" is not a colour such as #ff8800.' },
        { parameter: 'filters[currency].value', says: '"USD" is not one of EUR, CHF, NOK.' },
        { parameter: 'filters[layers].value', says: '"3" is not an even number.' }
      ].map((one) => ({ code: 'filter.value.invalid', ...one }))
    })
  })

  it('takes a part of a value where a comparison looks for one', async () => {
    expect(ids(await store.as(ADMIN, `/swatches/paged?${filter('colour', 'starts with', '#FF')}`))).to.deep.equal([
      1, 3
    ])
    expect(ids(await store.as(ADMIN, '/swatches/paged?search=00ff'))).to.deep.equal([2])
    const found = json(await store.as(ADMIN, '/swatches/lookup?search=ff00')) as { items: { id: number }[] }
    expect(found.items.map(({ id }) => id)).to.deep.equal([2])
  })

  it('has the operators that it names', async () => {
    expectProblem(await store.as(ADMIN, `/swatches/paged?${filter('colour', 'contains', 'ff')}`), {
      status: 400,
      code: 'filter.operator.unsupported',
      base: store.stack.url,
      says: 'colour (string) has equals, not equals, starts with, in; in short eq, ne.'
    })
    expect(ids(await store.as(ADMIN, `/swatches/paged?${filter('currency', 'contains', 'h')}`))).to.deep.equal([2])
  })

  it('is documented wherever its values stand', async () => {
    const { components } = json(await store.as(ADMIN, '/openapi.json')) as {
      components: { schemas: Record<string, { properties: Record<string, unknown> }> }
    }
    const colour = {
      type: 'string',
      maxLength: 7,
      format: 'colour',
      pattern: '^#[0-9a-fA-F]{6}$',
      description: 'Red, green and blue.',
      examples: ['#ff8800', '#000000', '#a1b2c3']
    }
    const currency = {
      type: ['string', 'null'],
      maxLength: 3,
      enum: ['EUR', 'CHF', 'NOK', null],
      examples: ['EUR', 'CHF']
    }
    // A row that somebody else wrote may be shorter than writes may make it, and is answered as it is.
    expect(components.schemas['swatches']?.properties).to.deep.include({
      colour: { ...colour, description: 'Red, green and blue. Writes take at least 7 characters.' },
      currency: { ...currency, description: 'Writes take at least 1 character.' }
    })
    for (const schema of ['swatches.create', 'swatches.update', 'swatches.patch']) {
      expect(components.schemas[schema]?.properties, schema).to.deep.include({
        colour: { ...colour, minLength: 7 },
        currency: { ...currency, minLength: 1 }
      })
    }
    const name = 'What it is called on the tin.'
    for (const schema of ['swatches.create', 'swatches.update', 'swatches.patch']) {
      expect(components.schemas[schema]?.properties['name'], schema).to.include({ description: name })
    }
    expect(components.schemas['swatches']?.properties['name']).to.include({
      description: `${name} Writes take at least 1 character.`
    })
  })
})
