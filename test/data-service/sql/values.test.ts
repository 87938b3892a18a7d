import { expect } from 'chai'
import type { Operand } from '../../../data-service/entity/fields/field.js'
import type { Comparison } from '../../../data-service/entity/fields/operators.js'
import { eachDatabase } from '../../harness/database.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { entity, type FreshReadStore, freshReadStore, never } from './fresh-read-store.js'
import { condition, pagePlan, path, projection, sortedBy } from './plan-by-hand.js'

const products = entity('products')

/** Values of a column in ascending order, and operands between and beyond them. */
const SAMPLES: Readonly<Record<string, { readonly stored: readonly Operand[]; readonly beyond: readonly Operand[] }>> =
  {
    price: {
      stored: ['-99999999.99', '-0.01', '0.00', '0.01', '0.10', '9007199.99', '99999999.98', '99999999.99'],
      beyond: ['-100000000.00', '100000000.00', '0.02']
    },
    weightGrams: { stored: [-2147483648, -1, 0, 7, 2147483647], beyond: [5] },
    barcode: {
      stored: [
        '-9223372036854775808',
        '-9007199254740993',
        '-9007199254740992',
        '0',
        '9007199254740992',
        '9007199254740993',
        '9223372036854775806',
        '9223372036854775807'
      ],
      beyond: ['9007199254740994']
    },
    releasedAt: {
      stored: [
        '1000-01-01T00:00:00.000Z',
        '1969-12-31T23:59:59.999Z',
        '2026-03-29T01:30:00.000Z',
        '2026-03-29T01:30:00.001Z',
        '9999-12-31T23:59:59.999Z'
      ],
      beyond: ['0001-01-01T00:00:00.000Z', '2026-03-29T01:30:00.002Z']
    }
  }

const COMPARISONS: Partial<Record<Comparison, (rank: number) => boolean>> = {
  equals: (rank) => rank === 0,
  greaterThan: (rank) => rank > 0,
  greaterThanOrEqual: (rank) => rank >= 0,
  lessThan: (rank) => rank < 0,
  lessThanOrEqual: (rank) => rank <= 0
}

eachDatabase((kind) => {
  for (const [name, { stored, beyond }] of Object.entries(SAMPLES)) {
    describe(`${name} on ${kind}`, () => {
      let fresh: FreshReadStore
      const of = path(products, name)

      before(async () => {
        fresh = await freshReadStore(kind)
        await insertRows(fresh.primary, TABLES.categories, [{ id: 1, name: 'All', parentId: null, slug: 'all' }])
        const row = (id: number) => ({ id, name: 'x', sku: `s${id}`, categoryId: 1, price: '0.00', isActive: true })
        const rows = stored.map((value, index) => ({ ...row(index + 1), [name]: value }))
        const unset = name === 'price' ? [] : [row(stored.length + 1)]
        await insertRows(fresh.primary, TABLES.products, [...rows, ...unset])
      })

      after(() => fresh.dispose())

      async function found(comparison: Comparison, ...operands: readonly Operand[]): Promise<unknown[]> {
        const conditions = [condition(of, comparison, ...operands)]
        const sort = sortedBy(products, of, false)
        const shown = projection(products, [name])
        const { rows, total } = await fresh.store.page(
          pagePlan(products, { conditions, sort, projection: shown }),
          never
        )
        expect(total).to.equal(rows.length)
        return rows.map(({ values }) => values[0])
      }

      const order = (a: Operand, b: Operand): number =>
        name === 'releasedAt' ? (String(a) < String(b) ? -1 : a === b ? 0 : 1) : Number(exact(a) - exact(b))

      for (const [comparison, holds] of Object.entries(COMPARISONS) as [Comparison, (rank: number) => boolean][]) {
        it(`compares by ${comparison} to the last digit`, async () => {
          for (const operand of [...stored, ...beyond]) {
            expect(await found(comparison, operand), String(operand)).to.deep.equal(
              stored.filter((value) => holds(order(value, operand)))
            )
          }
        })
      }

      it('keeps rows without a value when it excludes one', async () => {
        const unset = name === 'price' ? [] : [null]
        for (const operand of [...stored, ...beyond]) {
          const rest = stored.filter((value) => value !== operand)
          expect(await found('notEquals', operand), String(operand)).to.deep.equal([...unset, ...rest])
        }
        expect(await found('isEmpty')).to.deep.equal(unset)
        expect(await found('isNotEmpty')).to.deep.equal([...stored])
      })

      it('takes both ends of between, and each member of in', async () => {
        const [first = '', second = '', third = ''] = stored
        expect(await found('between', second, third)).to.deep.equal([second, third])
        expect(await found('between', third, second)).to.deep.equal([])
        expect(await found('in', third, first, third, ...beyond)).to.deep.equal([first, third])
      })
    })
  }
})

/** Hundredths: enough for every sample. */
function exact(operand: Operand): bigint {
  const [whole = '', fraction = ''] = String(operand).split('.')
  return BigInt(whole + fraction.padEnd(2, '0'))
}
