import { type LiveProcedure, parseNativeType, rowsByTable, type SelectRows } from '../../model/live-schema.js'
import { errnoOf } from '../../../data-service/sql/engines/mysql/driver/mysql-errors.js'

const PROCEDURES =
  'SELECT ROUTINE_NAME AS name, SQL_DATA_ACCESS AS access, ROUTINE_COMMENT AS comment FROM information_schema.ROUTINES ' +
  "WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'PROCEDURE' ORDER BY ROUTINE_NAME"

const PARAMETERS =
  'SELECT SPECIFIC_NAME AS ofProcedure, PARAMETER_NAME AS name, PARAMETER_MODE AS mode, DTD_IDENTIFIER AS type, ' +
  'COLLATION_NAME AS collation FROM information_schema.PARAMETERS ' +
  "WHERE SPECIFIC_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'PROCEDURE' ORDER BY SPECIFIC_NAME, ORDINAL_POSITION"

interface ParameterRow {
  readonly ofProcedure: string
  readonly name: string
  readonly mode: string
  readonly type: string
  readonly collation: string | null
}

/** ER_SP_WRONG_NO_OF_ARGS, ER_PROCACCESS_DENIED_ERROR */
const WRONG_NUMBER = 1318
const EXECUTE_DENIED = 1370

/** Arguments beyond those of a procedure, so that it does not run even if somebody changes it at this moment. */
const TOO_MANY = 99

/**
 * The procedures that the account may see, which are those that it may call, alter or has made. Only a call tells which of
 * them it may call: here with too many arguments, which a server refuses after it has looked at the right.
 */
export async function mysqlProcedures(select: SelectRows, names?: readonly string[]): Promise<LiveProcedure[]> {
  const wanted = names?.map((name) => name.toLowerCase())
  const parameters = rowsByTable(await select<ParameterRow>(PARAMETERS), ({ ofProcedure }) => ofProcedure)
  const found: LiveProcedure[] = []
  for (const { name, access, comment } of await select<{ name: string; access: string; comment: string }>(PROCEDURES)) {
    if (wanted?.includes(name.toLowerCase()) === false) continue
    const of = parameters.get(name) ?? []
    const many = Array<string>(of.length + TOO_MANY).fill('NULL')
    const mayCall = await mayCallWith(`CALL \`${name.replaceAll('`', '``')}\`(${many.join()})`, select)
    found.push({
      name,
      comment,
      mayCall,
      readsOnly: access === 'READS SQL DATA' || access === 'NO SQL',
      parameters: of.map((one) => ({
        mode: one.mode,
        column: {
          name: one.name,
          nativeType: one.type,
          type: parseNativeType(one.type, 'backslash'),
          nullable: false,
          default: undefined,
          generated: undefined,
          autoIncrement: false,
          onUpdate: undefined,
          collation: one.collation ?? undefined,
          comment: '',
          checkedWords: undefined
        }
      }))
    })
  }
  return found
}

async function mayCallWith(statement: string, select: SelectRows): Promise<boolean> {
  try {
    await select(statement)
    throw new TypeError(`The server has run ${statement}`)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === WRONG_NUMBER || errno === EXECUTE_DENIED) return errno === WRONG_NUMBER
    throw error
  }
}
