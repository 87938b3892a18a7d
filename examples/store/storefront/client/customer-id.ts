import { accessToken } from './access-token.js'
import { NotSignedIn } from './api-failure.js'

/**
 * The customer id of the signed-in account; undefined for accounts without a customer, such as those of administrators.
 * The page only uses it to ask for rows. The API decides which rows the user may see.
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
