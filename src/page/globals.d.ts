/** The version in package.json; Vite writes it in. */
declare const WEBGEMM_VERSION: string;

declare module '*.css';
