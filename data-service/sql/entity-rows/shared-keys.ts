import type { Entity } from '../../entity/entity.js'
import { idText, type RowKey } from '../../entity/key.js'

/**
 * Rows of one key where a read needs one row, or goes on behind one: any answer would leave one of them out. Only where no
 * index of the table keeps its rows apart, and a person named the key all the same.
 */
export class SharedKey extends Error {
  override readonly name = 'SharedKey'

  constructor({ table, key }: Pick<Entity, 'table' | 'key'>, shared: RowKey) {
    const columns = key.map(({ column }) => column).join(', ')
    super(
      `rows of ${table} have the same ${columns}, ${idText(shared)}, and this read would leave one of them out: name a key that ` +
        "tells them apart in the entity file, or say key: 'none'"
    )
  }
}
