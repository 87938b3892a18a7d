import { expect } from 'chai'
import type { FieldType } from '../../../data-service/entity/fields/field.js'
import { isSuspect } from '../../../data-service/entity/secret-names.js'

/** `table.column`, with its type where it is no text, and the columns beside it that matter. */
interface Named {
  readonly name: string
  readonly type?: FieldType
  readonly beside?: readonly string[]
}

// Columns of published schemas: phpBB, PrestaShop, OpenCart, FreeRADIUS, Koha, Django, Drupal, Zabbix, Redmine, Rails, …
const SECRETS: readonly (string | Named)[] = [
  'users.password',
  'users.passwd',
  'users.PassWord',
  'users.encrypted_password',
  'users.hashed_password',
  'customers.password_history',
  'accounts.contraseña',
  'accounts.mot_de_passe',
  'wp_users.user_pass',
  'ftp.userpwd',
  'ps_employee.reset_password_token',
  'ps_customer.secure_key',
  'dolibarr_user.pass_crypted',
  'phpbb_users.user_actkey',
  'phpbb_users.user_newpasswd',
  'users.salt',
  'users.user_hash',
  'users.pin',
  { name: 'cards.pin', type: 'int' },
  { name: 'cards.cvv', type: 'int' },
  'users.otpKey',
  'users.otp_backup_codes',
  'nas.secret',
  'snmp.authpassphrase',
  'hosts.tls_psk',
  'items.privatekey',
  'api_keys.key',
  'oc_api.key',
  'authtoken_token.key',
  'api_keys.apikey',
  'api_keys.key_hash',
  'oauth_consumer.key',
  'oauth_token.verifier',
  'users.token_auth',
  'users.remember_token',
  'users.verification_token',
  'users.static_object_token',
  'wp_users.user_activation_key',
  'tokens.value',
  'verification.value',
  'password_resets.code',
  { name: 'password_resets.code', type: 'int' },
  'borrower_password_recovery.uuid',
  'customers.verification_code',
  'oc_user.recovery_code',
  { name: 'oc_user.code', beside: ['username', 'password', 'code'] },
  { name: 'members.activation', beside: ['email', 'password'] },
  'sessions.id',
  'sessions.sid',
  'sessions.ssid',
  'sessions.payload',
  'sessions.a_session',
  { name: 'sessions.data', type: 'binary' },
  'django_session.session_key',
  'django_session.session_data',
  'mdl_sessions.sessdata',
  'oc_cart.session_id',
  'whos_online.sesskey',
  'users.cookie_string',
  { name: 'radcheck.value', beside: ['id', 'username', 'attribute', 'op', 'value'] },
  { name: 'radreply.Value', beside: ['UserName', 'Attribute', 'op', 'Value'] },
  { name: 'credentials.public_key_secret', type: 'json' },
  'accounts.pw',
  'accounts.pw_hash',
  'torrent_users.passhash',
  'hosts.nt_hash',
  'hosts.lmHash',
  'hosts.ntlm_hash',
  'members.hash',
  'users.login_hash',
  'users.salt_value',
  'devices.jwt',
  'devices.bearer',
  'devices.totp_seed',
  'devices.mfa_seed',
  'wallets.mnemonic',
  'wallets.wallet_key',
  'grants.code_verifier',
  'grants.oauth_verifier',
  'hosts.ssh_key',
  'rooms.wifi_key',
  'certificates.pem',
  'members.security_answer',
  'members.security_question_answer',
  'sources.dsn',
  'sources.connection_string',
  'sources.connectionString',
  'rooms.door_code',
  { name: 'bikes.lock_code', type: 'int' },
  'roundcube_session.vars',
  'remember_me.series',
  'remember_me.value',
  'usuarios.palavra_passe',
  'users.clave',
  'users.parole',
  ...(
    'parol parool geslo jelszó adgangskode kodeord kata_sandi mat_khau mật_khẩu slaptazodis mima zugangscode losungswort ' +
    'mot_passe geheimnis segredo jeton zaporka пароль ПАРОЛЬ 密码 密碼 パスワード 비밀번호'
  )
    .split(' ')
    .map((column) => `people.${column}`)
]

const OTHERS: readonly (string | Named)[] = [
  { name: 'ps_employee.last_passwd_gen', type: 'dateTime' },
  { name: 'ps_employee.last_passwd_gen', type: 'int' },
  'ps_employee.last_passwd_gen',
  { name: 'users.passwordAllowed', type: 'bool' },
  { name: 'users.passwordAllowed', type: 'int' },
  'users.passwordAllowed',
  { name: 'users.must_change_password', type: 'int' },
  'users.must_change_password',
  'users.password_changed_at',
  { name: 'users.user_passchg', type: 'int' },
  { name: 'users.password_kind', type: 'enum' },
  { name: 'users.secret_question_id', type: 'int' },
  'tokens.token_type',
  { name: 'usage.tokens', type: 'int' },
  'countries.code',
  'coupons.code',
  'settings.value',
  'product_attributes.key',
  'translations.key',
  'users.public_key',
  'orders.sort_key',
  'contacts.secretary',
  'hikes.compass',
  'orders.status',
  { name: 'sessions.id', type: 'int' },
  { name: 'talks.session_id', type: 'int' },
  { name: 'sessions.pinned', type: 'bool' },
  'sessions.title',
  'sessions.user_id',
  'pages.cookie_consent',
  'auth_group.name',
  { name: 'ingredients.salt', type: 'decimal' },
  { name: 'customers.code', beside: ['name', 'code', 'password_changed_at'] },
  'users.avatar_hash',
  'users.email_hash',
  'files.hash',
  'products.clave',
  'songs.parole',
  'airport_gates.code',
  'hosts.ssh_public_key',
  'games.seed',
  'surveys.question_answer',
  { name: 'users.pw_changed', type: 'dateTime' },
  { name: 'users.pw_hash', type: 'bool' },
  'devices.jwt_expires_at',
  'people.имя',
  'people.名前'
]

function suspected(one: string | Named): boolean {
  const { name, type = 'string', beside = [] } = typeof one === 'string' ? { name: one } : one
  const [table = '', column = ''] = name.split('.')
  return isSuspect({ table, column, type, beside })
}

describe('The names of secrets', () => {
  it('are those of passwords, tokens, keys of APIs, reset codes and sessions in published schemas', () => {
    expect(SECRETS.filter((one) => !suspected(one))).to.deep.equal([])
  })

  it('are not those of timestamps, flags, counts, references by number and names for people', () => {
    expect(OTHERS.filter(suspected)).to.deep.equal([])
  })
})
