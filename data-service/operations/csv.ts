import type { CsvOptions__Output } from '../../shared/gen/entity/v1/CsvOptions.js'
import type { ExportRows } from '../../shared/gen/entity/v1/ExportRows.js'
import { CsvWriter } from '../entity/fields/csv-text.js'
import type { Projection } from '../plan/model/plans.js'
import type { UnshownValues } from '../entity/fields/unshown.js'
import { propertyName, selectedName } from '../plan/model/projection.js'
import type { BatchWriter, ExportedRow } from '../plan/model/stores.js'
import { placeOf, sourcesOf, typeOf, type ValueProperty } from './json.js'
import { cellWriter } from '../entity/types/types.js'

/** Bytes of a message: large enough to be cheap, small enough for slow readers and for other calls of the process. */
const MESSAGE_BYTES = 64 * 1024

/** Room behind them for a row that is begun before the message is cut. A longer row makes the memory grow. */
const ROW_BYTES = 4096

/** The properties of an export's rows, none of which is a navigation. */
export interface ExportedCells {
  readonly shown: readonly ValueProperty[]
  readonly projection: Projection
  readonly unshown: UnshownValues
}

/** Writes the rows of one export in messages of bounded size. */
export interface RowsWriter {
  /** Begins a batch. */
  readonly begin: () => BatchWriter<ExportRows>
  /** To be told of a message that has been sent, whose memory is used again. */
  readonly sent: (rows: ExportRows) => void
}

/**
 * Writes each row with its CRLF. An export uses some buffers again and again: new ones for all of its messages would make
 * garbage collections of the whole heap, which took a fifth of its CPU time.
 */
export function csvWriter({ shown, projection, unshown }: ExportedCells, options: CsvOptions__Output): RowsWriter {
  const [first, ...others] = cellsOf(shown, projection)
  if (first === undefined) throw new TypeError('an export without columns')
  const free: Buffer[] = []
  const memory = (): Buffer => free.pop() ?? Buffer.allocUnsafeSlow(MESSAGE_BYTES + ROW_BYTES)
  const sent = ({ csv }: ExportRows): void => {
    // A buffer that has grown for a long row is given back.
    if (csv instanceof Uint8Array && csv.buffer.byteLength === MESSAGE_BYTES + ROW_BYTES) {
      free.push(Buffer.from(csv.buffer))
    }
  }
  const begin = (): BatchWriter<ExportRows> => {
    const messages: ExportRows[] = []
    const out = new CsvWriter(memory(), options)
    out.unshown = unshown
    let cut = 0
    let count = 0
    const cutMessage = (next: Buffer): void => {
      cut += out.at
      messages.push({ csv: compact(out.take(next)), count })
      count = 0
    }
    return {
      add(row) {
        first(row, out)
        for (const cells of others) {
          out.comma()
          cells(row, out)
        }
        out.endRow()
        count += 1
        if (out.at >= MESSAGE_BYTES) cutMessage(memory())
      },
      get bytes() {
        return cut + out.at
      },
      finish() {
        if (count > 0) cutMessage(NOTHING)
        else sent({ csv: out.take(NOTHING) })
        return messages
      }
    }
  }
  return { begin, sent }
}

const NOTHING = Buffer.alloc(0)

/** Memory that has grown for a long row has room for three times its bytes, which would be kept until they are sent. */
function compact(csv: Buffer): Buffer {
  return csv.buffer.byteLength > MESSAGE_BYTES + ROW_BYTES ? Buffer.from(csv) : csv
}

/** Writes some cells of a row, one after another. */
type Cells = (row: ExportedRow, out: CsvWriter) => void

/** Stored values that follow one another are written together. */
function cellsOf(shown: readonly ValueProperty[], projection: Projection): Cells[] {
  const cells: Cells[] = []
  let together: { readonly places: number[]; readonly names: string[] } | undefined
  for (const property of shown) {
    if (property.kind === 'id' || property.kind === 'computed') {
      together = undefined
      const { places, combine } = sourcesOf(property, projection)
      const write = cellWriter(typeOf(property))
      const name = propertyName(property)
      cells.push((row, out) => {
        const { at } = out
        try {
          write(combine(places.map((place) => row.value(place))), out)
        } catch (error) {
          out.hide(error, { property: name, at })
        }
      })
      continue
    }
    const place = placeOf(selectedName(property), projection)
    if (together === undefined) {
      const some = (together = { places: [place], names: [selectedName(property)] })
      cells.push((row, out) => {
        const { at } = out
        try {
          row.writeCells(some.places, out)
        } catch {
          out.at = at
          writeOneByOne(row, some, out)
        }
      })
    } else {
      together.places.push(place)
      together.names.push(selectedName(property))
    }
  }
  return cells
}

/** Of values one of which cannot be shown. */
function writeOneByOne(
  row: ExportedRow,
  { places, names }: { readonly places: readonly number[]; readonly names: readonly string[] },
  out: CsvWriter
): void {
  for (const [index, place] of places.entries()) {
    if (index > 0) out.comma()
    const { at } = out
    try {
      row.writeCells([place], out)
    } catch (error) {
      out.hide(error, { property: names[index] ?? '', at })
    }
  }
}
