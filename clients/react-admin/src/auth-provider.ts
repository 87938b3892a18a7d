import type { ApplicationTypes, Client } from '@uniform-rest/client'
import { type AuthProvider, HttpError, type UserIdentity } from 'ra-core'
import { isProblemError, statusOf } from './errors.js'
import type { ReadParams } from './reads.js'
import { reported } from './writes.js'

export interface AuthProviderOptions<A extends ApplicationTypes> {
  readonly client: Client<A>
}

/** What `login` takes: the login form of react-admin names its first field `username`. */
export interface LoginParams {
  readonly email?: string
  readonly username?: string
  readonly password: string
}

/**
 * What the access token says about its caller. It is for what is shown and offered alone: nothing here verifies a signature,
 * and the service decides by itself.
 */
export interface Permissions {
  readonly roles: readonly string[]
  /** Those that the token names itself. What a role may do is known to the service. */
  readonly permissions: readonly string[]
}

/** The authentication provider of a react-admin application over the typed client, with its `token: 'session'` or any other. */
export interface UniformRestAuthProvider extends AuthProvider {
  login(params: LoginParams): Promise<void>
  getPermissions(params?: unknown): Promise<Permissions>
  getIdentity(params?: ReadParams): Promise<UserIdentity>
}

export function uniformRestAuthProvider<A extends ApplicationTypes>({
  client
}: AuthProviderOptions<A>): UniformRestAuthProvider {
  const claims = async (signal?: AbortSignal): Promise<Claims | undefined> =>
    claimsOf(await client.token(signal === undefined ? {} : { signal }))
  return {
    supportAbortSignal: true,

    login: ({ email, username, password }) =>
      reported(() => client.login({ email: email ?? username ?? '', password })),

    logout: async () => {
      try {
        await client.logout()
      } catch (error) {
        // Whatever the service answers, it has cleared the cookies. Without an answer the session may still be there.
        if (!isProblemError(error)) throw error
      }
    },

    checkAuth: async ({ signal }: ReadParams = {}) => {
      let token: string | undefined
      try {
        token = await client.token(signal === undefined ? {} : { signal })
      } catch {
        // A service that does not answer just now says nothing about the session. To fail here would end it.
        return
      }
      // The key of a text that react-admin has in every language.
      if (token === undefined) throw new HttpError('ra.auth.auth_check_error', 401)
    },

    checkError: async (error: unknown) => {
      // The client has asked for another token already. Who is not allowed something (403) stays logged in.
      if (statusOf(error) === 401) throw error
    },

    getIdentity: async ({ signal } = {}) => {
      const known = await reported(() => claims(signal))
      if (known === undefined) throw new HttpError('ra.auth.auth_check_error', 401)
      return { id: known.sub, fullName: known.name ?? known.sub }
    },

    getPermissions: async () => {
      const { role, permissions } = (await reported(() => claims())) ?? {}
      return { roles: texts(role), permissions: texts(permissions) }
    }
  }
}

interface Claims {
  readonly sub: string
  readonly name?: string
  /** One role is a string. */
  readonly role?: unknown
  readonly permissions?: unknown
}

/** The claims of a JWT (RFC 7519 section 3). IT VERIFIES NO SIGNATURE. undefined for what is no JWT. */
function claimsOf(token: string | undefined): Claims | undefined {
  try {
    const payload = (token ?? '').split('.')[1] ?? ''
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
    const { sub, name, ...claims } = JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<string, unknown>>
    return { ...claims, sub: String(sub), ...(typeof name === 'string' ? { name } : {}) }
  } catch {
    return undefined
  }
}

function texts(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === 'string')
}
