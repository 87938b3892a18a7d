import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { PRODUCTS, rowOf, versionOf } from '../fixture.js'
import { StatementLog, statements } from '../statement-log.js'
import { everything } from './stored.js'
import { send, tagOf } from './send.js'

/** Contract section 5: 400 `idempotency.key.invalid`. */
const MALFORMED: readonly (readonly [title: string, key: string | readonly string[]])[] = [
  ['256 characters', 'x'.repeat(256)],
  ['256 characters in quotes', `"${'x'.repeat(256)}"`],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['a space within', 'a b'],
  ['a space within quotes', '"a b"'],
  ['a tab within', 'a\tb'],
  ['a tab within quotes', '"a\tb"'],
  ['a letter beyond ASCII', 'é'],
  ['a letter beyond ASCII in quotes', '"é"'],
  ['a C1 control character', '\u0085'],
  ['nothing in quotes', '""'],
  ['a space in quotes', '" "'],
  ['no quote at the end', '"a'],
  ['an escaped quote at the end', '"a\\"'],
  ['a quote within quotes', '"a"b"'],
  ['an escape of nothing', '"a\\b"'],
  ['something after the quotes', '"a"b'],
  ['parameters after the quotes', '"a";x=1'],
  ['two in one line, with a space', 'a, b'],
  ['two strings', '"a", "b"'],
  ['two lines', ['a', 'b']],
  ['two lines alike', ['a', 'a']],
  ['two lines, one blank', ['a', '']]
]

describeApi(
  'a malformed Idempotency-Key',
  (store) => {
    const body = { name: 'Key', sku: 'KEY', categoryId: 1, price: '1.00', isActive: true }
    const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))

    it('is 400, and nothing runs', async () => {
      const stored = await everything(store)
      const rejections = async (): Promise<void> => {
        for (const [title, key] of MALFORMED) {
          for (const line of ['clerk POST /products', 'clerk PUT /products/1', 'clerk PUT /products/1/unpublish']) {
            const headers = { 'idempotency-key': [key].flat() }
            const rejected = await send(store, line, { body, ifMatch, headers })
            expect(rejected.status, `${title}: ${rejected.text}`).to.equal(400)
            store.problem(rejected, { status: 400, code: 'idempotency.key.invalid', says: 'Idempotency-Key' })
          }
        }
        // Before everything that the data service decides.
        for (const line of ['nobody POST /products', 'clerk PUT /products/x', 'clerk PUT /products/999/publish']) {
          store.problem(await send(store, line, { body: {}, key: 'a b' }), {
            status: 400,
            code: 'idempotency.key.invalid'
          })
        }
      }
      if (store.kind === 'sqlite') await rejections()
      else {
        const log = await StatementLog.open(store.databaseUrl)
        try {
          expect(statements(await log.during(() => store.call('/products/1')))).not.to.be.empty
          expect(statements(await log.during(rejections))).to.deep.equal([])
        } finally {
          await log.close()
        }
      }
      expect(await everything(store)).to.deep.equal(stored)
    })
  },
  { never: ['cuts'] }
)
