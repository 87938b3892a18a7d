# The images of docker-compose.yml: `service` is the gateway, the data service and the command `uniform-rest`; `shop` is
# the example shop; `keys` makes what docker-compose.yml needs of passwords, keys and certificates.
ARG NODE_VERSION=20
FROM node:${NODE_VERSION}-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts

FROM packages AS build
COPY tsconfig.json ./
COPY proto proto
COPY tools tools
COPY shared shared
COPY data-service data-service
COPY schema schema
COPY gateway gateway
COPY cli cli
COPY clients clients
COPY examples examples
RUN npm run build

FROM build AS keys
CMD ["node", "tools/compose/keys.mjs"]

# Production dependencies without what only compilers, people or other platforms read. They are installed anew, out of the
# cache of the stage before: to take all others away costs more. The optional packages (docs/decisions/073) are among them,
# because nobody can install a package in the image. `npm install` takes the versions of the lock file.
FROM packages AS dependencies
COPY tools/compose/require-optional.mjs ./
RUN rm -rf node_modules && node require-optional.mjs \
  && npm install --omit=dev --ignore-scripts --prefer-offline \
  && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' \) -delete \
  && find node_modules -path '*/prebuilds/*' -name '*.node' ! -path "*/linux-$(node -p process.arch)/*.glibc.node" -delete \
  && find node_modules/@azure node_modules/@typespec -type d \( -name browser -o -name react-native \) -prune -exec rm -rf {} +

# /image is the root of the image `service`: Node with the libraries that it and the native modules load, the production
# dependencies and the build. /shop has the packages of the shop, which are not among those of the service.
FROM dependencies AS production
COPY package.json ./
COPY --from=build /app/proto proto
COPY --from=build /app/dist dist
COPY --from=build /app/clients/pages node_modules/@uniform-rest/pages
COPY --from=build /app/examples/store/storefront/assets examples/store/storefront/assets
COPY --from=build /app/node_modules/preact /shop/app/node_modules/preact
COPY --from=build /app/node_modules/preact-render-to-string /shop/app/node_modules/preact-render-to-string
RUN mkdir -p /image/app/examples/store/storefront /image/app/dist /image/usr/local/bin /image/tmp /image/etc \
    /image/var/lib/uniform-rest /image/var/lib/key-ring \
  && cp -r package.json proto node_modules /image/app/ \
  && cp -r dist/cli dist/data-service dist/gateway dist/schema dist/shared dist/examples /image/app/dist/ \
  && cp -r examples/store/storefront/assets /image/app/examples/store/storefront/ \
  && find /image/app/dist -name '*.d.ts' -delete \
  && cp "$(command -v node)" /image/usr/local/bin/node \
  && ldd /usr/local/bin/node $(find node_modules -name '*.node') | grep -o '/[^ ]*\.so[^ ]*' | sort -u \
    | xargs -I '{}' cp --dereference --parents '{}' /image \
  && echo 'service:x:65532:65532::/app:/nonexistent' > /image/etc/passwd \
  && echo 'service:x:65532:' > /image/etc/group \
  && chown 65532:65532 /image/var/lib/uniform-rest /image/var/lib/key-ring \
  && chmod 700 /image/var/lib/uniform-rest /image/var/lib/key-ring && chmod 1777 /image/tmp

FROM scratch AS service
COPY --from=production /image /
USER 65532:65532
WORKDIR /app
# The admin port is on the loopback of the container: the health check alone uses it.
ENV PATH=/usr/local/bin DATA_DIR=/var/lib/uniform-rest ADMIN_PORT=9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:9090/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=4", "--v8-pool-size=1", "/app/dist/cli/main.js"]
CMD ["--help"]

FROM service AS shop
COPY --from=production /shop /
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:4000/shop-assets/mark.svg').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/examples/store/storefront/main.js"]
CMD []

# What `docker build .` makes.
FROM service
