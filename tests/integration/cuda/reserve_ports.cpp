// Prints as many free ports as it is asked for, one a line, and holds them until its input ends.

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "runtime/comm/tcp_socket.h"

int main(int count, char** arguments) {
  std::vector<stagewright::ReservedPort> held;
  for (int i = count > 1 ? std::atoi(arguments[1]) : 1; i > 0; --i) {
    held.push_back(stagewright::ReservedPort::reserve().value());
    std::cout << held.back().port() << std::endl;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  return 0;
}
