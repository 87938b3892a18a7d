import { grouped, sum, table } from './markdown.js'
import type { Tried } from './verdict.js'

interface Group {
  readonly name: string
  /** What breaks, in a sentence. */
  readonly what: string
  readonly has: (kind: string) => boolean
}

/** In the order of the page. What no group has is in the last. */
const GROUPS: readonly Group[] = [
  {
    name: 'Processes',
    what: 'A gateway or a data service is killed, told to end, or stopped for a while as if its machine hung; one that has ended is started again.',
    has: (kind) => kind.startsWith('SIG')
  },
  {
    name: 'Connections',
    what: 'All connections from clients to a gateway, from a gateway to a data service or a neighbour, or from a data service to a database are reset (RST) or closed (FIN) for one side or both, refused, silent in one direction or both (a black hole), delayed (slow), or pass a few bytes at a time (short reads).',
    has: (kind) => /^(?:RST|FIN|connections|black hole|slow|short reads)/.test(kind)
  },
  {
    name: 'Steps of HTTP',
    what: 'The connection of clients to a gateway, or of a gateway to a neighbour, is cut before a request, within it, before the answer or within the answer.',
    has: (kind) => /^cut .*(?:a request|a write)$/.test(kind)
  },
  {
    name: 'Steps of the call stream',
    what: 'The same between a gateway and a data service, at any call and at calls that write.',
    has: (kind) => /^cut .*a call(?: that writes)?$/.test(kind)
  },
  {
    name: 'Steps of the MySQL protocol',
    what: 'The same between a data service and a database, at any statement, and at COMMIT, whose outcome nobody knows when its answer is cut.',
    has: (kind) => /^cut .*(?:a statement|COMMIT)$/.test(kind)
  },
  {
    name: 'Databases',
    what: 'A server, or a node of a cluster, is hurt as [decision 047](decisions/047-the-databases-of-the-campaign.md) lists.',
    has: (kind) => kind.startsWith('database ')
  },
  {
    name: 'Key vault',
    what: 'The stand-in for the key vault that wraps the key ring, or the endpoint of the identity that calls it, is refused, silent or slow, cut, or answers what it must not, while a gateway needs it for a new ring or for its start; and the key has a new version.',
    has: (kind) => kind.includes('key vault')
  },
  {
    name: 'Neighbours',
    what: 'The blob store of the key ring, or the renderer of pages, is there and answers an error, bytes that are no HTTP, or what another service would answer.',
    has: () => true
  }
]

/** A section for each group of kinds: how often each kind was injected, and how often it hit. */
export function faultsSections(tried: readonly Tried[]): string[] {
  const kinds = [...new Set(tried.flatMap((one) => one.kinds))]
  return GROUPS.flatMap(({ name, what }) => {
    const rows = kinds.filter((kind) => groupOf(kind) === name)
    if (rows.length === 0) return []
    return [
      `### ${name}`,
      what,
      '',
      ...table(
        ['fault', ...tried.map(({ topology }) => topology)],
        rows.map((kind) => [kind, ...tried.map((one) => cellOf(one, kind))])
      ),
      ''
    ]
  })
}

/** How often a kind of fault was injected, whoever it happened to, and how often it hit something. */
export function countOf({ outcome }: Tried, kind: string): { readonly times: number; readonly hits: number } {
  const of = Object.entries(outcome.injuries).filter(
    ([name]) => name === kind || name.startsWith(`${kind}, `) || /^ of [a-z-]+-\d+$/.test(afterOf(name, kind))
  )
  return { times: sum(of.map(([, { times }]) => times)), hits: sum(of.map(([, { hits }]) => hits)) }
}

function groupOf(kind: string): string {
  return GROUPS.find(({ has }) => has(kind))?.name ?? ''
}

function cellOf(one: Tried, kind: string): string {
  if (!one.kinds.includes(kind)) return '–'
  const { times, hits } = countOf(one, kind)
  return `${grouped(times)} / ${grouped(hits)}`
}

/** What stands in a name after a text that it begins with; else nothing. */
function afterOf(name: string, beginning: string): string {
  return name.startsWith(beginning) ? name.slice(beginning.length) : ''
}
