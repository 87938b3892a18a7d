import { type Hurt, pick } from './database.js'
import type { Network, Place } from './network.js'
import type { ServerNode } from './server-node.js'

/** A node of the cluster as these hurts see it. */
interface Node {
  readonly node: ServerNode
  readonly place: Place
  /** Takes all data from the node, which has ended. */
  emptyData(): Promise<void>
}

/** What only a cluster can be hurt by, each of a random node. A heal resolves when all nodes have the same rows to tell. */
export function galeraHurts(nodes: readonly Node[], network: Network): Readonly<Record<string, Hurt>> {
  const others = (one: Node): readonly Node[] => nodes.filter((other) => other !== one)
  /** Those that were away are taken back by themselves. */
  const synced = async (): Promise<void> => {
    await Promise.all(nodes.map(({ node }) => node.start()))
  }
  return {
    // It copies all data from another, which takes no writes meanwhile.
    'node-emptied': async (random) => {
      const one = pick(nodes, random)
      await one.node.kill()
      await one.emptyData()
      return synced
    },
    // The two others go on. Clients reach all three.
    'node-partitioned': async (random) => {
      const one = pick(nodes, random)
      for (const other of others(one)) await network.cut(one.place, other.place)
      return async () => {
        await network.join(one.place)
        await synced()
      }
    },
    // No two nodes reach each other, so that none takes writes. Clients reach all three.
    'no-majority': async () => {
      for (const one of nodes) for (const other of others(one)) await network.cut(one.place, other.place)
      return async () => {
        for (const { place } of nodes) await network.join(place)
        await synced()
      }
    },
    // It stays in the cluster, and its clients wait.
    'node-unreachable': async (random) => {
      const { place } = pick(nodes, random)
      await network.cutFromClients(place)
      return async () => {
        await network.join(place)
        await synced()
      }
    },
    // It takes writes of others no faster than it can, and holds nobody up: its reads fall behind.
    'node-desynced': async (random) => {
      const { node } = pick(nodes, random)
      await node.run('SET GLOBAL wsrep_desync = ON')
      return async () => {
        if (node.isRunning) await node.run('SET GLOBAL wsrep_desync = OFF')
        await synced()
      }
    }
  }
}
