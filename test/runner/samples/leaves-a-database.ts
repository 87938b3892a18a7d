import { freshDatabase } from '../../stack/databases.js'

describe('a test that is stopped before it removes its database', () => {
  it('makes one', async () => {
    const { url } = await freshDatabase('mysql')
    process.stdout.write(`made ${new URL(url).pathname.slice(1)}\n`)
  })
})
