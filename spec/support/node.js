// A program in WebAssembly has the environment that node has.
Module['preRun'] = function () { Object.assign(ENV, process.env); };
