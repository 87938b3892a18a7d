import { expect } from 'chai'
import { readConfig } from '../../data-service/config.js'
import store from '../../examples/store/uniform-rest.config.js'
import { readGatewayConfig } from '../../gateway/config.js'
import type { Environment } from '../../shared/settings.js'

const PROCESSES: readonly (readonly [name: string, read: (environment: Environment) => { effective: string }])[] = [
  ['the data service', (environment) => readConfig(environment, store)],
  ['the gateway', readGatewayConfig]
]
const PAIR = { GRPC_TLS_CERT_FILE: 'a.pem', GRPC_TLS_KEY_FILE: 'a.key' }
const NETWORK = { DATA_SERVICE_ADDRESS: 'data-service:50051' }

for (const [name, read] of PROCESSES) {
  describe(`gRPC settings of ${name}`, () => {
    for (const address of ['0.0.0.0:50051', '[::]:50051', 'data-service:50051', '10.0.0.1:1', '127.0.0.1.example:1']) {
      it(`${address} needs TLS, or the word that the network is trusted`, () => {
        const environment = { DATA_SERVICE_ADDRESS: address }
        expect(() => read(environment)).to.throw(/DATA_SERVICE_ADDRESS .*GRPC_TLS_CERT_FILE.*GRPC_INSECURE=true/s)
        expect(() => read({ ...environment, GRPC_INSECURE: 'false' })).to.throw(/GRPC_INSECURE=true/)
        expect(() => read({ ...environment, GRPC_INSECURE: 'true' })).to.not.throw()
        expect(() => read({ ...environment, ...PAIR })).to.not.throw()
      })
    }

    for (const address of ['127.0.0.1:50051', '127.8.9.1:50051', '[::1]:50051', 'localhost:50051']) {
      it(`${address} needs nothing`, () => {
        expect(() => read({ DATA_SERVICE_ADDRESS: address })).to.not.throw()
      })
    }

    it('a certificate and its key go together', () => {
      for (const one of ['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE']) {
        expect(() => read({ [one]: 'a.pem' }), one).to.throw(
          /GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set together/
        )
      }
    })

    it('mutual TLS needs what it is made of', () => {
      expect(() => read({ ...PAIR, GRPC_TLS_CLIENT_AUTH: 'maybe' })).to.throw(/GRPC_TLS_CLIENT_AUTH must be none, opt/)
      expect(() => read({ GRPC_TLS_CA_FILE: 'ca.pem', GRPC_TLS_CLIENT_AUTH: 'required' })).to.throw(
        /GRPC_TLS_CERT_FILE/
      )
      expect(() => read({ ...PAIR, GRPC_TLS_CA_FILE: 'ca.pem', GRPC_TLS_CLIENT_AUTH: 'required' })).to.not.throw()
    })

    it('a secret is long, and is told nowhere', () => {
      const told = (secret: string): string => {
        try {
          return read({ GATEWAY_SECRET: secret }).effective
        } catch (error) {
          return String(error)
        }
      }
      expect(told('correct-horse-battery')).to.include('GATEWAY_SECRET=***').and.not.include('horse')
      expect(told('short-horse'))
        .to.match(/GATEWAY_SECRET must be at least 16/)
        .and.not.include('horse')
      expect(told('a horse with blanks in it'))
        .to.match(/GATEWAY_SECRET must be/)
        .and.not.include('horse')
    })
  })
}

describe('gRPC settings of either side', () => {
  it('the data service serves TLS with a certificate and asks for others by an authority', () => {
    expect(() => readConfig({ GRPC_TLS_CA_FILE: 'ca.pem' }, store)).to.throw(/GRPC_TLS_CA_FILE alone is not enough/)
    expect(() => readConfig({ ...PAIR, GRPC_TLS_CLIENT_AUTH: 'optional' }, store)).to.throw(/needs GRPC_TLS_CA_FILE/)
  })

  it('the gateway dials with TLS by an authority alone', () => {
    const { config } = readGatewayConfig({ ...NETWORK, GRPC_TLS_CA_FILE: 'ca.pem' })
    expect(config.grpc.tls).to.include({ caFile: 'ca.pem', certFile: undefined })
  })
})
