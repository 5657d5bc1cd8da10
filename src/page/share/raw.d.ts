/** A style sheet as text. */
declare module '*.css?raw' {
  const text: string;
  export default text;
}
