import { expect } from 'chai'
import { request } from '../../harness/http.js'
import { listen, startGateway } from '../gateway-fixture.js'
import { startRenderer } from './renderer-fixture.js'

/** What the renderer sees of the cookies of a request for a page. */
async function seenBy(settings: Readonly<Record<string, string>>, cookies: readonly string[]): Promise<unknown[]> {
  await using renderer = await startRenderer()
  const gateway = await startGateway({ RENDERER_URL: renderer.url, ...settings })
  try {
    const url = await listen(gateway)
    for (const cookie of cookies) {
      expect((await request(`${url}/home`, { headers: { accept: 'text/css', cookie } })).status).to.equal(200)
    }
    return renderer.seen.map(({ headers }) => headers.cookie)
  } finally {
    await gateway.close()
  }
}

describe('the refresh token of a visitor', () => {
  const cookies = [
    'theme=dark; app_auth_access=a; app_auth_refresh=r; lang=en',
    'app_auth_refresh=r',
    'theme=dark;lang="e n"'
  ]

  it('stays with the gateway', async () => {
    expect(await seenBy({}, cookies)).to.deep.equal([
      'theme=dark; app_auth_access=a; lang=en',
      undefined,
      'theme=dark;lang="e n"'
    ])
  })

  it('goes to the renderer where RENDERER_REFRESH_TOKEN says so', async () => {
    expect(await seenBy({ RENDERER_REFRESH_TOKEN: 'true' }, cookies)).to.deep.equal(cookies)
  })
})
