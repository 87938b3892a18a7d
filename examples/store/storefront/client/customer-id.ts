import { accessToken } from './access-token.js'
import { NotSignedIn } from './api-failure.js'

/**
 * The customer that the signed-in account is; undefined for accounts that buy nothing, an administrator's say. It only
 * says what to ask for: whose rows are answered, the API decides.
 */
export async function customerId(): Promise<number | undefined> {
  const token = await accessToken()
  if (token === undefined) throw new NotSignedIn('Nobody is signed in.')
  const payload = token.split('.')[1] ?? ''
  const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
  const id = typeof claims === 'object' && claims !== null && 'customer_id' in claims ? claims.customer_id : undefined
  return /^\d+$/.test(String(id)) ? Number(id) : undefined
}
