import type { DatabaseKind } from '../stack/databases.js'
import { ConnectionCuts } from './connection-cuts.js'
import { DocumentCheck } from './document-check.js'

/**
 * How the stacks of a suite differ from ordinary ones, whose parts speak in frames: `unary`, calls by their unary gRPC
 * methods; `cuts`, the connection between the parts is cut at random moments (connection-cuts.ts); `document`, each
 * exchange is held against the OpenAPI document of its caller (document-check.ts).
 */
export const VARIANTS = ['unary', 'cuts', 'document'] as const
export type Variant = (typeof VARIANTS)[number]

/** The databases and the variants that a suite runs with. `npm run soak` takes both databases, whatever is said here. */
export interface Variants {
  /** The one database of `npm test`, for what no database has a part in. Default: both. */
  readonly on?: DatabaseKind
  /** The variants of `npm test`, on SQLite. The ordinary run is then on MariaDB, since the variants have all tests too. */
  readonly also?: readonly Variant[]
  /** In no run: what the suite counts or reads, a variant changes. `npm run soak` takes all others. */
  readonly never?: readonly Variant[]
}

/** That of the suite that runs; undefined for an ordinary one. */
let current: Variant | undefined

/** What the variant of the suite that runs does to a gateway and to its way to the data service. */
export interface VariantOfGateway {
  /** Settings of the gateway, below those that a test chooses. */
  readonly settings: Readonly<Record<string, string>>
  /** Answers the `host:port` by which the gateway takes the data service at this one. */
  wayTo(dataAddress: string): Promise<string>
  /** To be called with the URL of the gateway when it serves. */
  serve(gateway: string): void
  /** To be called when the gateway has stopped. Rejects where the variant has shown nothing. */
  end(): Promise<void>
}

export function variantOfGateway(): VariantOfGateway {
  const cuts = current === 'cuts' ? new ConnectionCuts() : undefined
  const check = current === 'document' ? new DocumentCheck() : undefined
  return {
    settings: current === 'unary' ? { DATA_SERVICE_CALLS: 'unary' } : {},
    wayTo: async (dataAddress) => (await cuts?.wayTo(dataAddress)) ?? dataAddress,
    serve(gateway) {
      cuts?.serve(gateway)
      check?.serve(gateway)
    },
    async end() {
      await cuts?.end()
      check?.end()
    }
  }
}

/** With cuts a test waits for as many reconnections as it has requests, in the worst case. */
const TIMES_WITH_CUTS = 5

/** Declares the suites that `define` declares, in a variant. */
export function inVariant(variant: Variant, define: () => void): void {
  describe(TITLES[variant], () => {
    before(() => {
      current = variant
    })
    beforeEach(function () {
      if (variant === 'cuts') this.currentTest?.timeout(this.currentTest.timeout() * TIMES_WITH_CUTS)
    })
    after(() => {
      current = undefined
    })
    define()
  })
}

const TITLES = {
  unary: 'over unary calls,',
  cuts: 'with cuts of the connection between the processes,',
  document: 'held against the OpenAPI document,'
} as const
