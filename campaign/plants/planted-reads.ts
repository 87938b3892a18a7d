import type { Plant } from './plant.js'

/** Of reads, sessions and answers: something is shown that is old, of another moment, or of somebody else. */
export const PLANTED_READS: readonly Plant[] = [
  {
    name: 'read-kept-by-a-gateway',
    mistake: 'A gateway keeps rows for 200 ms to spare the data service, and learns nothing of the writes of others.',
    checker: 'FreshReads',
    workloads: ['counters'],
    process: 'gateway',
    module: 'gateway/entity-routes/reads.js',
    find: 'const response = await data.get(',
    replace: `const kept = (globalThis.keptRecords ??= new Map());
        const name = request.headers.authorization + request.url;
        const get = async (context, message) => {
            const known = kept.get(name);
            if (known !== undefined && performance.now() < known.until) return known.answer;
            const answer = await data.get(context, message);
            kept.set(name, { answer, until: performance.now() + 200 });
            return answer;
        };
        const response = await get(`
  },
  {
    name: 'export-without-scope',
    mistake:
      'The statement of an export has the filters of its request, and the rows that its caller may see were left out.',
    checker: 'OwnRowsOnly',
    workloads: ['owners'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/exports.js',
    find: 'const conditions = [...plan.conditions, ...scopeConditions(scope)];',
    replace: 'const conditions = [...plan.conditions];'
  },
  {
    name: 'count-without-scope',
    mistake: 'A page has the rows that its caller may see, and the count beside it is that of all.',
    checker: 'OwnRowsOnly',
    workloads: ['owners'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/loaded-page.js',
    find: 'countRows(session, source, { entity: plan.entity, conditions, counted })',
    replace: 'countRows(session, source, { entity: plan.entity, conditions: plan.conditions, counted })'
  },
  {
    name: 'snapshot-for-each-batch',
    mistake:
      'Each batch of an export is read in a transaction of its own, after a pause in which others may write, so that none lasts for long.',
    checker: 'OneMoment',
    workloads: ['counters', 'exports'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/exports.js',
    find: 'const snapshot = await open(AbortSignal.any([signal, leaving.signal]));',
    replace: `const first = await open(AbortSignal.any([signal, leaving.signal]));
    const { batch } = first;
    await first.close();
    let pause = 0;
    const each = async (...of) => {
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = 300;
        const own = await open(AbortSignal.any([signal, leaving.signal]));
        try { await own.each(...of); }
        finally { await own.close(); }
    };
    const snapshot = { batch, each, close: async () => undefined };`
  },
  {
    name: 'export-ends-with-a-full-batch',
    mistake: 'A comparison is off by one, and the first full batch of an export is taken for the last one.',
    checker: 'OneMoment',
    workloads: ['counters', 'exports'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/exports.js',
    find: 'const isLast = truncated || found < limit;',
    replace: 'const isLast = truncated || found <= limit;'
  },
  {
    name: 'logout-of-the-cookie-alone',
    mistake: 'A condition is the wrong way round: a logout takes the cookies away and leaves the session alive.',
    checker: 'SessionsEndOnce',
    workloads: ['sessions'],
    process: 'data-service',
    module: 'data-service/auth/sessions.js',
    find: 'if (family.revokedAt === null)\n                    await unit.revokeFamily',
    replace: 'if (family.revokedAt !== null)\n                    await unit.revokeFamily'
  },
  {
    name: 'grace-makes-new-tokens',
    mistake: 'A token that is used again within its grace is answered with a further token, not with the newest one.',
    checker: 'SessionsEndOnce',
    workloads: ['sessions'],
    process: 'data-service',
    module: 'data-service/auth/sessions.js',
    find: 'return session.isNewest\n',
    replace: 'return session.newest\n'
  },
  {
    name: 'reuse-without-revocation',
    mistake:
      'A used token that comes back after its grace is rejected, and the session that it was stolen from goes on.',
    checker: 'SessionsEndOnce',
    workloads: ['sessions'],
    process: 'data-service',
    module: 'data-service/auth/sessions.js',
    find: 'await unit.revokeFamily(family.id, now);',
    replace: ''
  },
  {
    name: 'rejection-keeps-cookies',
    mistake: 'A session that is over is told so, and its browser keeps both cookies.',
    checker: 'AuthAnswers',
    workloads: ['sessions'],
    process: 'gateway',
    module: 'gateway/session/auth-routes.js',
    find: 'tools.cookies.expire(reply);\n        return sendNoSession',
    replace: 'void 0;\n        return sendNoSession'
  },
  {
    name: 'token-of-a-disabled-machine',
    mistake: 'A log-in looks whether its account is disabled, and the token of a machine was forgotten.',
    checker: 'MachinesEndAtOnce',
    workloads: ['machines'],
    process: 'data-service',
    module: 'data-service/auth/machine-token.js',
    find: 'if (off !== undefined)\n',
    replace: 'if (off !== undefined && account.disabledAt === null)\n'
  },
  {
    name: 'removed-secret-lives-on',
    mistake:
      'A data service keeps the secrets of an account for as long as it runs, and learns nothing of those that were removed.',
    checker: 'MachinesEndAtOnce',
    workloads: ['machines'],
    process: 'data-service',
    module: 'data-service/auth/machine-token.js',
    find: 'const secret = matchingSecret(await unit.secretsOf(key), clientSecret);',
    replace: `const kept = ((globalThis.keptSecrets ??= new Map()).get(clientId) ?? []);
            globalThis.keptSecrets.set(clientId, [...kept, ...(await unit.secretsOf(key))]);
            const all = globalThis.keptSecrets.get(clientId);
            const secret = all.map((one) => matchingSecret([one], clientSecret)).find((one) => one !== undefined);`
  },
  {
    name: 'cause-in-a-conflict',
    mistake: 'The detail of a conflict says what caused it, for whoever looks for a mistake.',
    checker: 'AllowedAnswers',
    workloads: ['counters'],
    process: 'data-service',
    module: 'data-service/operations/writes/rejections.js',
    find: "return new DomainError('conflict', CONFLICT_DETAIL, {",
    replace: "return new DomainError('conflict', `UPDATE rows SET row_version matched none: ${cause}`, {"
  },
  {
    name: 'row-shared-by-callers',
    mistake: 'Whether two callers may see the same rows is told by the conditions alone, without their values.',
    checker: 'OwnRowsOnly',
    workloads: ['owners'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/statements/conditions.js',
    find: 'return one === other || scopeKey(one, dialect) === scopeKey(other, dialect);',
    replace: 'return shapeOf(scopeConditions(one)) === shapeOf(scopeConditions(other));'
  },
  {
    name: 'lookup-shared-by-callers',
    mistake:
      'Lookups that ask for the same are answered by one statement, and the rows of the caller were left out of "the same".',
    checker: 'OwnRowsOnly',
    workloads: ['owners'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/reads.js',
    find: 'conditionsText(conditions, this.#primary.dialect)]);',
    replace: 'conditionsText(plan.conditions, this.#primary.dialect)]);'
  },
  {
    name: 'export-of-what-is-committed',
    mistake:
      'The transaction of an export is READ COMMITTED like all others, so that each of its statements has a snapshot of its own; between them others may write.',
    checker: 'OneMoment',
    workloads: ['counters', 'exports'],
    // A transaction of SQLite has one snapshot, whatever it is asked for.
    database: 'mariadb',
    process: 'data-service',
    module: 'data-service/sql/engines/mysql/mysql-sessions.js',
    find: "await runCommand(this.connection, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');",
    replace: `await runCommand(this.connection, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
            const each = this.each.bind(this);
            let pause = 0;
            this.each = async (...of) => {
                await new Promise((resolve) => setTimeout(resolve, pause));
                pause = 300;
                await each(...of);
            };`
  },
  {
    name: 'cursor-of-the-row-in-excess',
    mistake:
      'The cursor of the next page names the row that is read in excess to see whether rows follow, and no page shows it.',
    checker: 'WholePages',
    workloads: ['counters'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/loaded-page.js',
    find: 'next: found.length > limit ? placeAt(page, -1) : undefined,',
    replace: 'next: found.length > limit ? placeAt(found, -1) : undefined,'
  },
  {
    name: 'rejections-break-the-circuit',
    mistake:
      'A circuit breaker of the gateway takes what a data service rejects for a failure of it, and answers 503 in place of each fifth.',
    checker: 'FailuresHaveCauses',
    workloads: ['counters'],
    process: 'gateway',
    module: 'gateway/data/calls.js',
    find: 'const { maybeSent, ofTransport } = error;',
    replace: `const { maybeSent, ofTransport } = error;
            globalThis.failures = (globalThis.failures ?? 0) + 1;
            if (globalThis.failures % 5 === 0)
                throw new DomainError('upstream.unavailable', 'The data service cannot be reached at the moment.', { retryAfter: 1 });`
  }
]
