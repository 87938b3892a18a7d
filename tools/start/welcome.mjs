/**
 * What a newcomer needs once everything serves.
 *
 * @param {{ base: string, dataService: string, dataDir?: string | undefined, withShop: boolean, withSample: boolean }} facts
 */
export function welcome({ base, dataService, dataDir, withShop, withSample }) {
  return [
    '',
    ...(withShop ? [`  Shop   ${new URL('/', base).href}`] : []),
    `  API    ${base}`,
    `  Docs   ${base}/docs  and, as OpenAPI, ${base}/openapi.json`,
    `  gRPC   ${dataService}`,
    ...(withSample ? sample(base, tokenCommand(dataDir)) : []),
    '',
    '  Ctrl-C ends everything.',
    '',
    ''
  ].join('\n')
}

/**
 * The signing key is in the data folder.
 *
 * @param {string | undefined} dataDir
 */
function tokenCommand(dataDir) {
  const where = dataDir === undefined ? '' : `DATA_DIR='${dataDir.replaceAll("'", "'\\''")}' `
  return `${where}npm run --silent token --`
}

/**
 * @param {string} base
 * @param {string} token
 */
function sample(base, token) {
  return [
    '',
    '  Sample accounts, password demo-password; npm run token -- <account> prints an access token of one',
    '    admin@example.com    Admin     every row, every permission',
    '    clerk@example.com    Clerk     manages products, coupons, customers, suppliers, warehouses, events',
    '    ada@example.com      Customer  the rows of customer 1',
    '    ben@example.com      Customer  the rows of customer 2',
    '    nobody@example.com   Customer  what is public; owns nothing',
    '',
    '  Try',
    `    curl -gi '${base}/products/paged?filters[price].operator=lt&filters[price].value=20&sortColumn=name'`,
    `    curl -i ${base}/orders/paged -H "Authorization: Bearer $(${token} ada@example.com)"`
  ]
}
