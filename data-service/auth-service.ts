import type { AuthServiceHandlers } from '../shared/gen/auth/v1/AuthService.js'
import type { Authenticating } from './auth/authenticating.js'
import { keys } from './auth/keys.js'
import { login } from './auth/login.js'
import { refresh } from './auth/refresh.js'
import { revoke } from './auth/revoke.js'
import { intercept, type Interceptors } from './interceptors/intercept.js'
import { unaryCall } from './interceptors/unary-call.js'
import type { UnaryHandler } from './rpc/call-context.js'

/** AuthService for grpc-js. Its calls need no access token: they are how one is come by. */
export function authService(authenticating: Authenticating, interceptors: Interceptors): AuthServiceHandlers {
  const unary = <Request, Response>(rpc: string, handler: UnaryHandler<Request, Response>) =>
    unaryCall<Request, Response>(intercept(handler, { rpc, exempt: true }, interceptors))
  return {
    Login: unary('Login', login(authenticating)),
    Refresh: unary('Refresh', refresh(authenticating)),
    Revoke: unary('Revoke', revoke(authenticating)),
    Keys: unary('Keys', keys(authenticating.issuers))
  }
}
