/** What people call those whose figures stand in a bench, by their names in the record. */
export const TITLES: Readonly<Record<string, string>> = {
  tensorflow: 'TensorFlow.js',
  'onnx-web': 'ONNX Runtime Web',
  'onnx-node': 'ONNX Runtime for Node',
  jax: 'jax-js',
  cublas: 'cuBLAS',
};

export const titleOf = (name: string): string => TITLES[name] ?? name;
