import {
  authenticated,
  compositeId,
  date,
  defineOperation,
  guid,
  int,
  list,
  long,
  oneOf,
  optional,
  permission,
  reject,
  text,
  unsigned
} from 'uniform-rest'
import { countries, grades, holidays, placements, shelves, tickets } from './entities.js'
import { GRADES } from './tables.js'

// Operations that find and write rows by keys of every kind.

const found = defineOperation({
  name: 'found',
  route: 'GET /reports/found',
  description: 'The names of rows by their ids, null where there is none.',
  access: authenticated,
  query: {
    country: text(500),
    day: date(),
    grade: oneOf(GRADES),
    ticket: unsigned(long()),
    shelf: text(2000),
    placement: text(100)
  },
  answer: {
    country: optional(text(60)),
    day: optional(text(60)),
    grade: optional(text(60)),
    ticket: optional(text(60)),
    shelf: optional(text(60)),
    placement: optional(text(60)),
    everyShelf: optional(text(60)),
    numbers: list(int()),
    counted: int()
  },
  async handle({ query: { country, day, grade, ticket, shelf, placement }, rows, unscopedRows }) {
    return {
      country: (await rows(countries).get(country))?.name ?? null,
      day: (await rows(holidays).get(day))?.name ?? null,
      grade: (await rows(grades).get(grade))?.note ?? null,
      ticket: (await rows(tickets).get(ticket))?.note ?? null,
      shelf: (await rows(shelves).get(shelf))?.label ?? null,
      placement: (await rows(placements).get(placement))?.remark ?? null,
      everyShelf: (await unscopedRows(shelves).get(shelf))?.label ?? null,
      numbers: (
        await rows(shelves).list({ where: ({ where }) => where('countryId', 'equals', country), sort: ['-number'] })
      ).map(({ number }) => number),
      counted: await rows(tickets).count({ where: ({ where }) => where('id', 'equals', ticket) })
    }
  }
})

const move = defineOperation({
  name: 'move',
  route: 'POST /reports/moves',
  description: 'Moves a copy to a shelf, with a new check of the shelf, and places a further copy there.',
  access: permission('keyed:manage'),
  body: { placement: text(100), shelf: text(2000), further: guid(), ticket: unsigned(long()) },
  answer: { made: list(text(100)), labels: list(text(60)), onShelf: int() },
  status: 201,
  async handle({ body, getAggregate, findByIds, findReferencing, countReferencing, write }) {
    const copy = await getAggregate('placements', body.placement)
    const shelf = await getAggregate('shelves', body.shelf)
    if (copy === undefined || shelf === undefined) return reject.notFound('There is no such row.')
    const { countryId = null, room = null, number = null, openedOn = null } = shelf.root
    const place = { shelfCountry: countryId, shelfRoom: room, shelfNumber: number, shelfDay: openedOn }
    const [check] = shelf.children['checks'] ?? []
    const made = await write({
      update: [
        { resource: 'placements', id: body.placement, set: { ...place, remark: 'moved' } },
        {
          resource: 'shelves',
          id: body.shelf,
          children: {
            checks: {
              insert: [{ run: 100, remark: 'moved' }],
              ...(check === undefined
                ? {}
                : {
                    update: [
                      {
                        id: compositeId(
                          String(check['countryId']),
                          String(check['room']),
                          Number(check['shelfNumber']),
                          String(check['openedOn']),
                          Number(check['run'])
                        ),
                        set: { remark: 'seen' }
                      }
                    ]
                  })
            }
          }
        }
      ],
      create: [
        { resource: 'tickets', values: { id: body.ticket, grade: 'low', note: 'made' } },
        { resource: 'placements', values: { copy: body.further, serial: body.ticket, ...place, remark: 'further' } }
      ]
    })
    const ids = [body.placement, compositeId(body.further, body.ticket)]
    const rows = await findByIds('placements', ids)
    const others = await findReferencing('placements', 'shelf', body.shelf)
    const counted = await countReferencing('placements', 'shelf', {
      id: body.shelf,
      where: { remark: ['moved', 'further'] }
    })
    return {
      made: made.map(String),
      labels: ids.map((id) => String(rows.get(id)?.['remark'])),
      onShelf: others.length === counted ? counted : -1
    }
  }
})

export const operations = [found, move]
