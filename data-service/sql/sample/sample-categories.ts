import type { SampleAggregate, SampleMaker } from './sample-aggregate.js'

/** The tree of the sample store: depth by indentation, `name | slug` each. */
const TREE = `
Kitchen | kitchen
  Cookware | cookware
    Pans | pans
    Pots | pots
    Woks | woks
  Knives | knives
    和包丁 | japanese-knives
  Glasses & Mugs | glasses-mugs
  Tea, Coffee | tea-coffee
    Café | café
    Cafe | cafe
Garden | garden
  Seeds | seeds
  Tools "by hand" | hand-tools
    Spades | spades
    Secateurs | secateurs
  Furniture | garden-furniture
    Benches | benches
    O'Hara chairs | ohara-chairs
Sports | sports
  Winter | winter
    Skis | skis
    Boots | ski-boots
  Water | water
  100% Running | running
Toys | toys
  Wooden | wooden
  Puzzles | puzzles
    1_000 pieces | thousand-pieces
  Игрушки | igrushki
Home | home
  Lamps | lamps
    Desk lamps | desk-lamps
    Floor lamps | floor-lamps
  Textiles | textiles
    Throws | throws
    Überwürfe | überwürfe
Office | office
  Pens | pens
  -Clearance- | clearance
`

interface Node {
  readonly name: string
  readonly slug: string
  readonly parentId: number | null
}

const SAMPLE_CATEGORIES: readonly Node[] = parseTree(TREE)

/** Categories beyond the tree, each below one of `parentIds`. */
export function categoryMaker(parentIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      name: `Category ${id}`,
      parentId: parentIds.length === 0 ? null : random.pick(parentIds),
      slug: `category-${id}`
    },
    children: {}
  })
}

/** The tree as aggregates, ids from 1. */
export function sampleCategories(): SampleAggregate[] {
  return SAMPLE_CATEGORIES.map(({ name, slug, parentId }, index) => ({
    root: { id: index + 1, name, parentId, slug },
    children: {}
  }))
}

function parseTree(tree: string): Node[] {
  const nodes: Node[] = []
  const path: number[] = []
  for (const line of tree.split('\n').filter((text) => text !== '')) {
    const depth = line.search(/\S/) / 2
    const [name = '', slug = ''] = line.trim().split(' | ')
    nodes.push({ name, slug, parentId: path[depth - 1] ?? null })
    path.splice(depth, path.length, nodes.length)
  }
  return nodes
}
