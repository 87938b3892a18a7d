import { expect } from 'chai'
import { Catalogue, type Navigation, type Property, type Resource } from '../../clients/admin/src/catalogue.js'
import { CHOSEN_COLUMNS, chosenColumns } from '../../clients/admin/src/columns.js'
import { distinctLabels, labelText } from '../../clients/admin/src/labels.js'
import { deedText, valueText } from '../../clients/admin/src/words.js'

/** What is read of a property here. */
function property(name: string, more: Partial<Property> = {}): Property {
  return { name, type: 'string', nullable: false, unique: false, maxLength: 0, ...more } as Property
}

const films = {
  name: 'films',
  label: 'title',
  properties: [property('id', { type: 'int' }), property('title'), property('year', { type: 'int' }), property('code')]
}

describe('the words of the admin', () => {
  it('tell an empty text from no value', () => {
    expect([valueText('', 'string'), valueText(null, 'string'), valueText(undefined, 'string')]).to.deep.equal([
      '(empty text)',
      '—',
      '—'
    ])
  })

  it('say what a button does to which row', () => {
    expect(deedText('cancel', 'orders')).to.equal('Cancel the order')
    expect(deedText('delete', 'stock-categories')).to.equal('Delete the stock category')
    expect(deedText('add-variant', 'products')).to.equal('Add variant')
  })

  it('tell rows of the same name apart by the first property that does, by one that is unique before others', () => {
    const rows = [
      { id: 1, title: 'Dune', year: 1984, code: 'a' },
      { id: 2, title: 'Dune', year: 2021, code: 'b' },
      { id: 3, title: 'Alien', year: 1979, code: 'c' }
    ]
    expect(rows.map(distinctLabels(rows, films))).to.deep.equal(['Dune (1984)', 'Dune (2021)', 'Alien'])
    const [id, title, year] = films.properties as [Property, Property, Property]
    const withCodes = { ...films, properties: [id, title, year, property('code', { unique: true })] }
    expect(rows.map(distinctLabels(rows, withCodes))).to.deep.equal(['Dune (a)', 'Dune (b)', 'Alien'])
    const same = rows.map((row) => ({ ...row, year: 2000, code: 'x' }))
    expect(same.map(distinctLabels(same, films))).to.deep.equal(['Dune (1)', 'Dune (2)', 'Alien'])
  })

  it('show the id of a row without a name as an id is shown', () => {
    const days = { label: 'day', properties: [property('id', { type: 'int' }), property('day', { type: 'dateTime' })] }
    expect(labelText({ id: '7', day: null }, days)).to.equal('7')
    expect(labelText({ id: '7' }, days)).to.equal('7')
  })

  it('list each column once, what every row has before what some have, until columns are chosen', () => {
    const namesOf = (label: string, filter: object): readonly string[] =>
      chosenColumns(
        {
          label,
          properties: [
            property('id', { type: 'int' }),
            property('note', { nullable: true }),
            property('text', { maxLength: 5000 }),
            property('name', { maxLength: 512 }),
            property('rowVersion', { type: 'bytes' }),
            property('at', { type: 'dateTime' })
          ]
        },
        { ...filter },
        false
      ).map(({ name }) => name)
    expect(namesOf('name', {})).to.deep.equal(['id', 'name', 'at', 'note'])
    expect(namesOf('id', {})).to.deep.equal(['id', 'name', 'at', 'note'])
    expect(namesOf('name', { [CHOSEN_COLUMNS]: ['text', 'note', 'gone', 'rowVersion'] })).to.deep.equal([
      'note',
      'text'
    ])
    for (const wrong of [['gone'], [], 'name', null]) {
      expect(namesOf('name', { [CHOSEN_COLUMNS]: wrong }), JSON.stringify(wrong)).to.have.length(4)
    }
  })

  it('call a reference by its name where the caller may read it, that of children too', () => {
    const filmId = property('filmId', { type: 'int' })
    const film = { name: 'film', resource: 'films', via: ['filmId'] } as unknown as Navigation
    const catalogueOf = (...allowed: readonly string[]): Catalogue =>
      new Catalogue({ resources: [{ ...films, allowed } as unknown as Resource], owner: '', everyOwner: false })
    const children = { properties: [filmId], navigations: [], references: [film] }
    expect(catalogueOf('paged').labelOf(children, filmId)).to.equal('Film')
    expect(catalogueOf('paged').referenceOf(children, filmId)?.name).to.equal('films')
    expect(catalogueOf().labelOf(children, filmId)).to.equal('Film id')
    const taken = { properties: [filmId, property('film')], navigations: [film] }
    expect(catalogueOf('paged').labelOf(taken, filmId)).to.equal('Film id')
  })
})
