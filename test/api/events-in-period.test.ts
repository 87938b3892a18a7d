import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { expectProblem } from './expect-problem.js'
import { ids, json } from './http-call.js'

const DAY = 86_400_000

/** A custom read with parameters, over events that are made for it. */
describeApi(
  'GET /events/in-period',
  (store) => {
    const at = (day: number): string => new Date(Date.UTC(2030, 0, 1) + day * DAY).toISOString()
    const made: number[] = []

    before(async () => {
      const post = (resource: string, body: object) =>
        store.as('admin', `/${resource}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body)
        })
      const venue = await post('venues', { name: 'Hall', city: 'Bern', capacity: 100, isOpen: true })
      expect(venue.status, venue.text).to.equal(201)
      const { id: venueId } = json(venue) as { id: number }
      for (const [from, to] of [
        [10, 12],
        [0, 5],
        [4, 11]
      ] as const) {
        const event = await post('events', { title: `From ${from}`, startsAt: at(from), endsAt: at(to), venueId })
        expect(event.status, event.text).to.equal(201)
        made.push((json(event) as { id: number }).id)
      }
    })

    const inPeriod = (query: string) => store.call(`/events/in-period?${query}`)

    it('answers the events of the period, the earliest first, to anybody', async () => {
      const [late, early, middle] = made
      expect(ids(await inPeriod(`from=${at(-1)}`))).to.deep.equal([early, middle, late])
      expect(ids(await inPeriod(`from=${at(5)}`))).to.deep.equal([middle, late])
      expect(ids(await inPeriod(`from=${at(0)}&until=${at(4)}`))).to.deep.equal([early])
      expect(ids(await inPeriod(`from=${at(0)}&limit=2`))).to.deep.equal([early, middle])
      expect(ids(await inPeriod(`from=${at(0)}&status=draft&until=${at(1)}`))).to.deep.equal([early])
      expect(ids(await inPeriod(`from=${at(0)}&status=scheduled`))).to.deep.equal([])
    })

    it('rejects what is no moment, state or number', async () => {
      expectProblem(await inPeriod('from=tomorrow&until=&status=&limit=1001'), {
        status: 400,
        code: 'filter.value.invalid',
        base: store.stack.url,
        violations: ['from', 'until', 'status', 'limit'].map((parameter) => ({
          code: 'filter.value.invalid',
          parameter
        }))
      })
    })
  },
  { rows: 'sample' }
)
