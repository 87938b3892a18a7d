import fp from 'fastify-plugin'
import type { Catalogue } from '../catalogue.js'
import { openApiDocument } from '../openapi/document.js'
import type { PublicAddress } from '../public-address.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'

/** `GET /openapi.json`: the contract of every resource in OpenAPI 3.1, written once for each catalogue. */
export const openApi = fp<{ catalogue: Catalogue; address: PublicAddress }>(
  async (app, { catalogue, address }) => {
    const url = '/openapi.json'
    let written = { key: '', text: '' }
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const base = address.baseFor(request)
      const { digest, resources } = catalogue.current
      const key = `${digest} ${base}`
      if (written.key !== key) {
        written = { key, text: JSON.stringify(openApiDocument([...resources.values()], base)) }
      }
      return reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(written.text)
    })
  },
  { name: 'openapi', dependencies: ['problem-responses'], fastify: '5.x' }
)
