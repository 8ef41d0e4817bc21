# syntax=docker/dockerfile:1

# Everything that compiles content into a release.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
ARG BASE_URL=http://localhost:4321
ENV BASE_URL=$BASE_URL
RUN npm run build

# What serves it. Mount another OUT_DIR over /app/dist to serve releases that are built elsewhere.
FROM node:24-bookworm-slim AS serve
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY src src
COPY functions functions
COPY --from=build /app/dist dist
RUN mkdir /state && chown node:node /state
ARG BASE_URL=http://localhost:4321
ENV BASE_URL=$BASE_URL NODE_ENV=production HOST=0.0.0.0 PORT=4321 OUT_DIR=/app/dist STATE_DIR=/state
USER node
VOLUME /state
EXPOSE 4321
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "functions/commands/health.ts"]
CMD ["node", "--max-semi-space-size=8", "functions/commands/serve.ts"]
